// Asks Hadoop's own classes: reads vectors (JSON lines, as tests/plan/vectors has them) from standard input and prints
// {"splits": …} or {"error": …} for each. Run by test_splits.py with the jars that PySpark brings.
import com.fasterxml.jackson.databind.*;
import com.fasterxml.jackson.databind.node.*;
import java.io.*;
import java.net.URI;
import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.*;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.mapreduce.*;
import org.apache.hadoop.mapreduce.lib.input.*;
import org.apache.hadoop.mapreduce.task.JobContextImpl;
import org.apache.hadoop.util.Progressable;

public class HadoopSplits {
    static JsonNode now;
    static final ObjectMapper MAPPER = new ObjectMapper();

    public static class Fake extends FileSystem {
        @Override public URI getUri() { return URI.create("fake:///"); }
        @Override public Path getWorkingDirectory() { return new Path("fake:/"); }
        @Override public void setWorkingDirectory(Path path) { }
        @Override public FSDataInputStream open(Path path, int size) { throw new UnsupportedOperationException(); }
        @Override public FSDataOutputStream create(Path path, FsPermission permission, boolean overwrite, int size,
                                                   short replicas, long block, Progressable progress) {
            throw new UnsupportedOperationException();
        }
        @Override public FSDataOutputStream append(Path path, int size, Progressable progress) {
            throw new UnsupportedOperationException();
        }
        @Override public boolean rename(Path from, Path to) { throw new UnsupportedOperationException(); }
        @Override public boolean delete(Path path, boolean below) { throw new UnsupportedOperationException(); }
        @Override public boolean mkdirs(Path path, FsPermission permission) { throw new UnsupportedOperationException(); }
        @Override public FileStatus[] listStatus(Path path) {
            List<FileStatus> found = new ArrayList<>();
            for (JsonNode file : now.get("files"))
                found.add(status(file));
            return found.toArray(new FileStatus[0]);
        }
        static FileStatus status(JsonNode file) {
            boolean dir = file.path("dir").asBoolean(false);
            return new FileStatus(file.path("len").asLong(0), dir, 3, file.path("block_size").asLong(134217728), 0,
                                  new Path("fake:" + file.get("path").asText()));
        }
        @Override public FileStatus getFileStatus(Path path) throws IOException {
            if (path.toUri().getPath().equals("/in"))
                return new FileStatus(0, true, 0, 0, 0, new Path("fake:/in"));
            for (JsonNode file : now.get("files"))
                if (file.get("path").asText().equals(path.toUri().getPath()))
                    return status(file);
            throw new FileNotFoundException(path.toString());
        }
        @Override public BlockLocation[] getFileBlockLocations(FileStatus status, long start, long len) {
            List<BlockLocation> found = new ArrayList<>();
            for (JsonNode file : now.get("files")) {
                if (!file.get("path").asText().equals(status.getPath().toUri().getPath()))
                    continue;
                for (JsonNode block : file.path("blocks")) {
                    String[] hosts = texts(block.path("hosts"));
                    String[] places = block.has("racks") ? texts(block.get("racks")) : new String[0];
                    for (int i = 0; i < places.length; i++)
                        places[i] += "/" + hosts[i];
                    found.add(new BlockLocation(hosts.clone(), hosts, places, block.get("offset").asLong(),
                                                block.get("len").asLong()));
                }
                break;
            }
            return found.toArray(new BlockLocation[0]);
        }
    }

    static String[] texts(JsonNode array) {
        List<String> found = new ArrayList<>();
        for (JsonNode text : array)
            found.add(text.asText());
        return found.toArray(new String[0]);
    }

    static boolean splittable(Path path) {
        for (JsonNode file : now.get("files"))
            if (file.get("path").asText().equals(path.toUri().getPath()))
                return file.path("splittable").asBoolean(true);
        return true;
    }

    public static class Combine extends CombineFileInputFormat<Object, Object> {
        @Override protected boolean isSplitable(JobContext job, Path path) { return splittable(path); }
        @Override public RecordReader<Object, Object> createRecordReader(InputSplit split, TaskAttemptContext task) {
            return null;
        }
        void pool(List<PathFilter> filters) { createPool(filters.toArray(new PathFilter[0])); }
    }

    public static class Plain extends FileInputFormat<Object, Object> {
        @Override protected boolean isSplitable(JobContext job, Path path) { return splittable(path); }
        @Override public RecordReader<Object, Object> createRecordReader(InputSplit split, TaskAttemptContext task) {
            return null;
        }
    }

    public static class Old extends org.apache.hadoop.mapred.FileInputFormat<Object, Object> {
        @Override protected boolean isSplitable(FileSystem files, Path path) { return splittable(path); }
        @Override public org.apache.hadoop.mapred.RecordReader<Object, Object> getRecordReader(
            org.apache.hadoop.mapred.InputSplit split, org.apache.hadoop.mapred.JobConf job,
            org.apache.hadoop.mapred.Reporter reporter) {
            return null;
        }
    }

    static ArrayNode chunk(Path path, long offset, long len) {
        return MAPPER.createArrayNode().add(path.toUri().getPath()).add(offset).add(len);
    }

    static ObjectNode told(long len, List<ArrayNode> chunks, String[] hosts) {
        ObjectNode out = MAPPER.createObjectNode().put("len", len);
        ArrayNode all = out.putArray("chunks"), where = out.putArray("locations");
        chunks.forEach(all::add);
        for (String host : hosts)
            where.add(host);
        return out;
    }

    static ArrayNode plan(JsonNode vector) throws Exception {
        Configuration conf = new Configuration(false);
        JsonNode config = vector.path("config");
        String[][] keys = {{"max", "mapreduce.input.fileinputformat.split.maxsize"},
                           {"min", "mapreduce.input.fileinputformat.split.minsize"},
                           {"min_node", "mapreduce.input.fileinputformat.split.minsize.per.node"},
                           {"min_rack", "mapreduce.input.fileinputformat.split.minsize.per.rack"}};
        ArrayNode out = MAPPER.createArrayNode();

        for (String[] key : keys)
            if (config.has(key[0]))
                conf.setLong(key[1], config.get(key[0]).asLong());
        if (config.path("ignore_subdirs").asBoolean(false))
            conf.setBoolean("mapreduce.input.fileinputformat.input.dir.nonrecursive.ignore.subdirs", true);
        conf.set("fs.fake.impl", Fake.class.getName());
        conf.setBoolean("fs.fake.impl.disable.cache", true);
        conf.set("mapreduce.input.fileinputformat.inputdir", "fake:/in");
        if (vector.get("api").asText().equals("file-old")) {
            Old format = new Old();
            for (org.apache.hadoop.mapred.InputSplit s :
                 format.getSplits(new org.apache.hadoop.mapred.JobConf(conf), config.path("num_splits").asInt(2))) {
                org.apache.hadoop.mapred.FileSplit split = (org.apache.hadoop.mapred.FileSplit)s;
                out.add(told(split.getLength(), List.of(chunk(split.getPath(), split.getStart(), split.getLength())),
                             split.getLocations()));
            }
            return out;
        }
        JobContext job = new JobContextImpl(conf, new JobID("x", 1));
        if (vector.get("api").asText().equals("file-new")) {
            for (InputSplit s : new Plain().getSplits(job)) {
                FileSplit split = (FileSplit)s;
                out.add(told(split.getLength(), List.of(chunk(split.getPath(), split.getStart(), split.getLength())),
                             split.getLocations()));
            }
            return out;
        }
        Combine format = new Combine();
        for (JsonNode pool : vector.path("pools")) {
            List<PathFilter> filters = new ArrayList<>();
            for (JsonNode prefix : pool)
                filters.add(path -> path.toUri().getPath().startsWith(prefix.asText()));
            format.pool(filters);
        }
        for (InputSplit s : format.getSplits(job)) {
            CombineFileSplit split = (CombineFileSplit)s;
            List<ArrayNode> chunks = new ArrayList<>();
            for (int i = 0; i < split.getNumPaths(); i++)
                chunks.add(chunk(split.getPath(i), split.getOffset(i), split.getLength(i)));
            out.add(told(split.getLength(), chunks, split.getLocations()));
        }
        return out;
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode answer = MAPPER.createObjectNode();
            now = MAPPER.readTree(line);
            try {
                answer.set("splits", plan(now));
            } catch (Exception e) {
                answer.put("error", e.getMessage());
            }
            out.println(answer);
        }
    }
}
