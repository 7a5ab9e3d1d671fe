/* The Avro schemas of instants' contents, byte for byte as Hudi 1.x stores them, so that whatever
 * compares or copies schemas on its side finds its own. */
#include "table/commit_schema.h"

/* clang-format off */
#define TEXT     "{\"type\":\"string\",\"avro.java.string\":\"String\"}"
#define TEXTS    "{\"type\":\"array\",\"items\":" TEXT "}"
#define TEXT_MAP "{\"type\":\"map\",\"values\":" TEXT ",\"avro.java.string\":\"String\"}"
/* The type of an optional field, and the end of the field. */
#define NULL_TEXT "[\"null\"," TEXT "],\"default\":null}"
#define NULL_LONG "[\"null\",\"long\"],\"default\":null}"

#define STAT \
    "{\"type\":\"record\",\"name\":\"HoodieWriteStat\",\"fields\":[" \
    "{\"name\":\"fileId\",\"type\":" NULL_TEXT \
    ",{\"name\":\"path\",\"type\":" NULL_TEXT \
    ",{\"name\":\"prevCommit\",\"type\":" NULL_TEXT \
    ",{\"name\":\"numWrites\",\"type\":" NULL_LONG \
    ",{\"name\":\"numDeletes\",\"type\":" NULL_LONG \
    ",{\"name\":\"numUpdateWrites\",\"type\":" NULL_LONG \
    ",{\"name\":\"totalWriteBytes\",\"type\":" NULL_LONG \
    ",{\"name\":\"totalWriteErrors\",\"type\":" NULL_LONG \
    ",{\"name\":\"partitionPath\",\"type\":" NULL_TEXT \
    ",{\"name\":\"totalLogRecords\",\"type\":" NULL_LONG \
    ",{\"name\":\"totalLogFiles\",\"type\":" NULL_LONG \
    ",{\"name\":\"totalUpdatedRecordsCompacted\",\"type\":" NULL_LONG \
    ",{\"name\":\"numInserts\",\"type\":" NULL_LONG \
    ",{\"name\":\"totalLogBlocks\",\"type\":" NULL_LONG \
    ",{\"name\":\"totalCorruptLogBlock\",\"type\":" NULL_LONG \
    ",{\"name\":\"totalRollbackBlocks\",\"type\":" NULL_LONG \
    ",{\"name\":\"fileSizeInBytes\",\"type\":" NULL_LONG \
    ",{\"name\":\"logVersion\",\"type\":[\"null\",\"int\"],\"default\":null}" \
    ",{\"name\":\"logOffset\",\"type\":" NULL_LONG \
    ",{\"name\":\"baseFile\",\"type\":" NULL_TEXT \
    ",{\"name\":\"logFiles\",\"type\":" \
    "[\"null\",{\"type\":\"array\",\"items\":" TEXT ",\"default\":null}],\"default\":null}" \
    ",{\"name\":\"cdcStats\",\"type\":[\"null\",{\"type\":\"map\",\"values\":\"long\"," \
    "\"avro.java.string\":\"String\",\"default\":null}],\"default\":null}" \
    ",{\"name\":\"prevBaseFile\",\"type\":" NULL_TEXT \
    ",{\"name\":\"minEventTime\",\"type\":" NULL_LONG \
    ",{\"name\":\"maxEventTime\",\"type\":" NULL_LONG \
    ",{\"name\":\"runtimeStats\",\"type\":[\"null\",{\"type\":\"record\",\"name\":" \
    "\"HoodieRuntimeStats\",\"fields\":[" \
    "{\"name\":\"totalScanTime\",\"type\":" NULL_LONG \
    ",{\"name\":\"totalCreateTime\",\"type\":" NULL_LONG \
    ",{\"name\":\"totalUpsertTime\",\"type\":" NULL_LONG "]}],\"default\":null}" \
    ",{\"name\":\"totalLogFilesCompacted\",\"type\":" NULL_LONG \
    ",{\"name\":\"totalLogReadTimeMs\",\"type\":" NULL_LONG \
    ",{\"name\":\"totalLogSizeCompacted\",\"type\":" NULL_LONG \
    ",{\"name\":\"tempPath\",\"type\":" NULL_TEXT \
    ",{\"name\":\"numUpdates\",\"type\":" NULL_LONG "]}"

#define COMMIT_FIELDS \
    "{\"name\":\"partitionToWriteStats\",\"type\":[\"null\",{\"type\":\"map\",\"values\":{" \
    "\"type\":\"array\",\"items\":" STAT "},\"avro.java.string\":\"String\"}],\"default\":null}" \
    ",{\"name\":\"compacted\",\"type\":[\"null\",\"boolean\"],\"default\":null}"

const char tn_commit_schema_commit[] =
    "{\"type\":\"record\",\"name\":\"HoodieCommitMetadata\",\"namespace\":"
    "\"org.apache.hudi.avro.model\",\"fields\":["
    COMMIT_FIELDS
    ",{\"name\":\"extraMetadata\",\"type\":[\"null\",{\"type\":\"map\",\"values\":" TEXT ","
    "\"avro.java.string\":\"String\",\"default\":null}],\"default\":null}"
    ",{\"name\":\"version\",\"type\":[\"int\",\"null\"],\"default\":1}"
    ",{\"name\":\"operationType\",\"type\":" NULL_TEXT "]}";

const char tn_commit_schema_replace[] =
    "{\"type\":\"record\",\"name\":\"HoodieReplaceCommitMetadata\",\"namespace\":"
    "\"org.apache.hudi.avro.model\",\"fields\":["
    COMMIT_FIELDS
    ",{\"name\":\"extraMetadata\",\"type\":[\"null\"," TEXT_MAP "],\"default\":null}"
    ",{\"name\":\"version\",\"type\":[\"int\",\"null\"],\"default\":1}"
    ",{\"name\":\"operationType\",\"type\":" NULL_TEXT
    ",{\"name\":\"partitionToReplaceFileIds\",\"type\":[\"null\",{\"type\":\"map\","
    "\"values\":" TEXTS ",\"avro.java.string\":\"String\"}],\"default\":null}]}";

const char tn_commit_schema_requested_replace[] =
    "{\"type\":\"record\",\"name\":\"HoodieRequestedReplaceMetadata\",\"namespace\":"
    "\"org.apache.hudi.avro.model\",\"fields\":["
    "{\"name\":\"operationType\",\"type\":" NULL_TEXT
    ",{\"name\":\"clusteringPlan\",\"type\":[\"null\",{\"type\":\"record\",\"name\":"
    "\"HoodieClusteringPlan\",\"fields\":["
    "{\"name\":\"inputGroups\",\"type\":"
    "[\"null\",{\"type\":\"array\","
    "\"items\":{\"type\":\"record\",\"name\":\"HoodieClusteringGroup\",\"fields\":["
    "{\"name\":\"slices\",\"type\":"
    "[\"null\",{\"type\":\"array\","
    "\"items\":{\"type\":\"record\",\"name\":\"HoodieSliceInfo\",\"fields\":["
    "{\"name\":\"dataFilePath\",\"type\":" NULL_TEXT
    ",{\"name\":\"deltaFilePaths\",\"type\":"
    "[\"null\"," TEXTS "],\"default\":null}"
    ",{\"name\":\"fileId\",\"type\":[\"null\"," TEXT "]}"
    ",{\"name\":\"partitionPath\",\"type\":" NULL_TEXT
    ",{\"name\":\"bootstrapFilePath\",\"type\":" NULL_TEXT
    ",{\"name\":\"version\",\"type\":[\"int\",\"null\"],\"default\":1}]}}],\"default\":null}"
    ",{\"name\":\"metrics\",\"type\":[\"null\",{\"type\":\"map\",\"values\":\"double\","
    "\"avro.java.string\":\"String\"}],\"default\":null}"
    ",{\"name\":\"numOutputFileGroups\",\"type\":[\"int\",\"null\"],\"default\":1}"
    ",{\"name\":\"extraMetadata\",\"type\":[\"null\"," TEXT_MAP "],\"default\":null}"
    ",{\"name\":\"version\",\"type\":[\"int\",\"null\"],\"default\":1}]}}],\"default\":null}"
    ",{\"name\":\"strategy\",\"type\":[\"null\",{\"type\":\"record\",\"name\":"
    "\"HoodieClusteringStrategy\",\"fields\":["
    "{\"name\":\"strategyClassName\",\"type\":" NULL_TEXT
    ",{\"name\":\"strategyParams\",\"type\":[\"null\"," TEXT_MAP "],\"default\":null}"
    ",{\"name\":\"version\",\"type\":[\"int\",\"null\"],\"default\":1}]}],\"default\":null}"
    ",{\"name\":\"extraMetadata\",\"type\":[\"null\"," TEXT_MAP "],\"default\":null}"
    ",{\"name\":\"version\",\"type\":[\"int\",\"null\"],\"default\":1}"
    ",{\"name\":\"preserveHoodieMetadata\",\"type\":[\"null\",\"boolean\"],\"default\":null}"
    ",{\"name\":\"missingSchedulePartitions\",\"type\":"
    "[\"null\"," TEXTS "],\"default\":null}]}],\"default\":null}"
    ",{\"name\":\"extraMetadata\",\"type\":[\"null\"," TEXT_MAP "],\"default\":null}"
    ",{\"name\":\"version\",\"type\":[\"int\",\"null\"],\"default\":1}]}";

const char tn_commit_schema_rollback_plan[] =
    "{\"type\":\"record\",\"name\":\"HoodieRollbackPlan\",\"namespace\":"
    "\"org.apache.hudi.avro.model\",\"fields\":["
    "{\"name\":\"instantToRollback\",\"type\":[\"null\",{\"type\":\"record\",\"name\":"
    "\"HoodieInstantInfo\",\"fields\":["
    "{\"name\":\"commitTime\",\"type\":" TEXT "}"
    ",{\"name\":\"action\",\"type\":" TEXT "}]}]"
    ",\"doc\":\"Hoodie instant that needs to be rolled back\",\"default\":null}"
    ",{\"name\":\"RollbackRequests\",\"type\":"
    "[\"null\",{\"type\":\"array\","
    "\"items\":{\"type\":\"record\",\"name\":\"HoodieRollbackRequest\",\"fields\":["
    "{\"name\":\"partitionPath\",\"type\":" TEXT "}"
    ",{\"name\":\"fileId\",\"type\":" NULL_TEXT
    ",{\"name\":\"latestBaseInstant\",\"type\":" NULL_TEXT
    ",{\"name\":\"filesToBeDeleted\",\"type\":{\"type\":\"array\",\"items\":" TEXT
    ",\"default\":[]}"
    ",\"default\":[]}"
    ",{\"name\":\"logBlocksToBeDeleted\",\"type\":[\"null\",{\"type\":\"map\",\"values\":"
    "\"long\",\"avro.java.string\":\"String\"}],\"default\":null}]}}],\"default\":null}"
    ",{\"name\":\"version\",\"type\":[\"int\",\"null\"],\"default\":1}]}";

const char tn_commit_schema_rollback[] =
    "{\"type\":\"record\",\"name\":\"HoodieRollbackMetadata\",\"namespace\":"
    "\"org.apache.hudi.avro.model\",\"fields\":["
    "{\"name\":\"startRollbackTime\",\"type\":" TEXT "}"
    ",{\"name\":\"timeTakenInMillis\",\"type\":\"long\"}"
    ",{\"name\":\"totalFilesDeleted\",\"type\":\"int\"}"
    ",{\"name\":\"commitsRollback\",\"type\":" TEXTS "}"
    ",{\"name\":\"partitionMetadata\",\"type\":{\"type\":\"map\",\"values\":{\"type\":"
    "\"record\",\"name\":\"HoodieRollbackPartitionMetadata\",\"fields\":["
    "{\"name\":\"partitionPath\",\"type\":" TEXT "}"
    ",{\"name\":\"successDeleteFiles\",\"type\":" TEXTS "}"
    ",{\"name\":\"failedDeleteFiles\",\"type\":" TEXTS "}"
    ",{\"name\":\"rollbackLogFiles\",\"type\":[\"null\",{\"type\":\"map\",\"values\":"
    "\"long\",\"avro.java.string\":\"String\"}],\"default\":null}"
    ",{\"name\":\"logFilesFromFailedCommit\",\"type\":[\"null\",{\"type\":\"map\","
    "\"values\":\"long\",\"avro.java.string\":\"String\"}],\"default\":null}]},"
    "\"avro.java.string\":\"String\"}}"
    ",{\"name\":\"version\",\"type\":[\"int\",\"null\"],\"default\":1}"
    ",{\"name\":\"instantsRollback\",\"type\":{\"type\":\"array\","
    "\"items\":{\"type\":\"record\",\"name\":\"HoodieInstantInfo\",\"fields\":["
    "{\"name\":\"commitTime\",\"type\":" TEXT "}"
    ",{\"name\":\"action\",\"type\":" TEXT "}]}"
    ",\"default\":[]}"
    ",\"default\":[]}]}";

/* clang-format on */
