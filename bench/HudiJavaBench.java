// Hudi's Java client, warm: inserts, upserts all and upserts 10 % of an input of hudi_data.py, again and again.
// hudi_java.py runs it. A JSON line for each operation: seconds of its runs, reading the input and the commit included.
import java.io.IOException;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecord;
import org.apache.hadoop.conf.Configuration;
import org.apache.hudi.client.HoodieJavaWriteClient;
import org.apache.hudi.client.WriteStatus;
import org.apache.hudi.client.common.HoodieJavaEngineContext;
import org.apache.hudi.common.model.DefaultHoodieRecordPayload;
import org.apache.hudi.common.model.HoodieAvroRecord;
import org.apache.hudi.common.model.HoodieKey;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.common.model.HoodieTableType;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.storage.hadoop.HadoopStorageConfiguration;
import org.apache.parquet.avro.AvroParquetReader;
import org.apache.parquet.hadoop.ParquetReader;
import org.apache.parquet.hadoop.util.HadoopInputFile;

public class HudiJavaBench {
    static final int WARM_UPS = 2;
    static final Configuration CONF = new Configuration();

    static ParquetReader<GenericRecord> open(Path source) throws IOException {
        return AvroParquetReader.<GenericRecord>builder(
                HadoopInputFile.fromPath(new org.apache.hadoop.fs.Path(source.toUri()), CONF)).withConf(CONF).build();
    }

    static Schema schemaOf(Path source) throws IOException {
        try (ParquetReader<GenericRecord> reader = open(source)) {
            return reader.read().getSchema();
        }
    }

    static List<HoodieRecord<DefaultHoodieRecordPayload>> records(Path source) throws IOException {
        List<HoodieRecord<DefaultHoodieRecordPayload>> out = new ArrayList<>();
        try (ParquetReader<GenericRecord> reader = open(source)) {
            for (GenericRecord r = reader.read(); r != null; r = reader.read())
                out.add(new HoodieAvroRecord<>(
                        new HoodieKey(r.get("order_id").toString(), "dt=" + r.get("dt")),
                        new DefaultHoodieRecordPayload(r, (Comparable) r.get("ts"))));
        }
        return out;
    }

    static double write(Path source, Path table, Schema schema, boolean insert) throws Exception {
        long start = System.nanoTime();
        if (!Files.exists(table))
            HoodieTableMetaClient.newTableBuilder().setTableType(HoodieTableType.COPY_ON_WRITE).setTableName("orders")
                    .setRecordKeyFields("order_id").setPartitionFields("dt").setOrderingFields("ts")
                    .setHiveStylePartitioningEnable(true).setPayloadClass(DefaultHoodieRecordPayload.class)
                    .initTable(new HadoopStorageConfiguration(CONF), table.toString());
        Properties more = new Properties();
        more.putAll(Map.of("hoodie.metadata.enable", "false", "hoodie.parquet.compression.codec", "zstd",
                "hoodie.index.type", "SIMPLE", "hoodie.embed.timeline.server", "false",
                "hoodie.datasource.write.recordkey.field", "order_id",
                "hoodie.datasource.write.partitionpath.field", "dt"));
        HoodieWriteConfig config = HoodieWriteConfig.newBuilder().withPath(table.toString()).forTable("orders")
                .withSchema(schema.toString()).withParallelism(2, 2).withProps(more).build();
        try (HoodieJavaWriteClient<DefaultHoodieRecordPayload> client = new HoodieJavaWriteClient<>(
                new HoodieJavaEngineContext(new HadoopStorageConfiguration(CONF)), config)) {
            List<HoodieRecord<DefaultHoodieRecordPayload>> records = records(source);
            String instant = client.startCommit();
            List<WriteStatus> done = insert ? client.insert(records, instant) : client.upsert(records, instant);
            for (WriteStatus status : done)
                if (status.hasErrors())
                    throw new IOException(source + ": " + status.getErrors());
            if (!client.commit(instant, done))
                throw new IOException(source + ": the commit failed");
        }
        return (System.nanoTime() - start) / 1e9;
    }

    static void remove(Path tree) throws IOException {
        if (!Files.exists(tree))
            return;
        Files.walkFileTree(tree, new SimpleFileVisitor<>() {
            @Override public FileVisitResult visitFile(Path file, BasicFileAttributes a) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }
            @Override public FileVisitResult postVisitDirectory(Path dir, IOException e) throws IOException {
                Files.delete(dir);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    static void copy(Path from, Path to) throws IOException {
        List<Path> all = new ArrayList<>();
        try (var walk = Files.walk(from)) {
            walk.forEach(all::add);
        }
        for (Path path : all)
            Files.copy(path, to.resolve(from.relativize(path).toString()));
    }

    public static void main(String[] args) throws Exception {
        Path data = Path.of(args[0]), out = Path.of(args[1]).toAbsolutePath();
        int runs = Integer.parseInt(args[2]);
        PrintStream say = System.out;
        System.setOut(System.err);
        Schema schema = schemaOf(data.resolve("all.parquet"));
        remove(out);
        Files.createDirectories(out);
        Path seed = out.resolve("seed"), work = out.resolve("work");
        write(data.resolve("all.parquet"), seed, schema, true);
        String[][] operations = {{"insert", "all"}, {"upsert of all", "upsert-all"}, {"upsert of 10 %", "upsert-10"}};
        for (String[] operation : operations) {
            Path source = data.resolve(operation[1] + ".parquet");
            boolean insert = operation[0].equals("insert");
            List<String> taken = new ArrayList<>();
            for (int run = 0; run < WARM_UPS + runs; run++) {
                remove(work);
                if (!insert)
                    copy(seed, work);
                double seconds = write(source, work, schema, insert);
                if (run >= WARM_UPS)
                    taken.add(BigDecimal.valueOf(seconds).toPlainString());
            }
            say.println("{\"kind\": \"run\", \"op\": \"" + operation[0] + "\", \"rows\": " + records(source).size()
                    + ", \"seconds\": [" + String.join(", ", taken) + "]}");
            say.flush();
        }
    }
}
