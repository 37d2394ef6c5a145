package io.radixflow.operators.flink.tiers;

import io.radixflow.engine.tier.remote.RemoteFiles;
import io.radixflow.engine.tier.remote.RemoteObject;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.UnsupportedFileSystemSchemeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Files of any system that Flink reaches by a URI, through its plugins: S3, OSS, HDFS and others.
 *
 * <p>Where renaming is cheap and atomic, an object is first written under another name, which
 * {@link #delete} also deletes. An object store shows an object only once it is closed, so objects
 * are written directly.
 */
public final class FlinkRemoteFiles implements RemoteFiles {
  private static final Logger LOG = LoggerFactory.getLogger(FlinkRemoteFiles.class);
  private static final Set<String> RENAMED = Set.of("file", "hdfs", "viewfs");
  private static final String TEMPORARY = ".new";

  /** Flink's own plugin for a scheme. */
  private static final Map<String, String> PLUGINS =
      Map.of(
          "s3", "flink-s3-fs-hadoop",
          "s3a", "flink-s3-fs-hadoop",
          "s3p", "flink-s3-fs-presto",
          "oss", "flink-oss-fs-hadoop",
          "gs", "flink-gs-fs-hadoop",
          "abfs", "flink-azure-fs-hadoop",
          "abfss", "flink-azure-fs-hadoop",
          "wasb", "flink-azure-fs-hadoop",
          "wasbs", "flink-azure-fs-hadoop");

  private final Path root;
  private final boolean rename;

  private FlinkRemoteFiles(Path root) {
    this.root = root;
    this.rename = RENAMED.contains(root.toUri().getScheme());
  }

  /**
   * Opens a folder. The folder need not exist, and the file system need not answer now.
   *
   * @throws IllegalArgumentException if the URI has no scheme, or no file system serves it
   */
  public static FlinkRemoteFiles open(String uri) {
    URI place = URI.create(uri);
    if (place.getScheme() == null) {
      throw new IllegalArgumentException(
          uri + " has no scheme: write it as a URI, such as s3://bucket/folder or file:///folder");
    }
    FlinkRemoteFiles opened = new FlinkRemoteFiles(new Path(place));
    try {
      opened.files();
    } catch (UnsupportedFileSystemSchemeException e) {
      throw new IllegalArgumentException(howToServe(place), e);
    } catch (IOException | RuntimeException e) {
      LOG.warn("{} cannot be reached now; it is tried again: {}", uri, e.toString());
    }
    return opened;
  }

  private static String howToServe(URI uri) {
    String scheme = uri.getScheme();
    String plugin = PLUGINS.get(scheme);
    if (plugin != null) {
      return "no file system plugin serves %s: copy %s-*.jar from Flink's opt/ to plugins/%s/ of each TaskManager"
          .formatted(uri, plugin, plugin);
    }
    return scheme.equals("hdfs")
        ? "nothing serves " + uri + ": set HADOOP_CLASSPATH for each TaskManager"
        : "nothing serves %s: put the plugin for %s:// into a folder of plugins/ of each TaskManager"
            .formatted(uri, scheme);
  }

  /** Returns the file system; Flink keeps open file systems. */
  private FileSystem files() throws IOException {
    // streams belong to the engine, not to the task whose thread happens to open them
    return FileSystem.getUnguardedFileSystem(root.toUri());
  }

  private Path path(String name) {
    return new Path(root, name);
  }

  @Override
  public boolean exists(String name) throws IOException {
    return files().exists(path(name));
  }

  @Override
  public int read(String name, ByteBuffer into) throws IOException {
    try (InputStream in = files().open(path(name))) {
      int start = into.position();
      int offset = into.arrayOffset();
      while (into.hasRemaining()) {
        int read = in.read(into.array(), offset + into.position(), into.remaining());
        if (read < 0) {
          break;
        }
        into.position(into.position() + read);
      }
      return into.position() - start;
    } catch (FileNotFoundException e) {
      throw new NoSuchFileException(name);
    }
  }

  @Override
  public void create(String name, ByteBuffer bytes) throws IOException {
    if (!rename) {
      write(path(name), bytes);
      return;
    }
    write(path(name + TEMPORARY), bytes);
    if (!files().rename(path(name + TEMPORARY), path(name)) && !files().exists(path(name))) {
      throw new IOException(name + " was not renamed");
    }
  }

  private void write(Path path, ByteBuffer bytes) throws IOException {
    try (FSDataOutputStream out = files().create(path, FileSystem.WriteMode.OVERWRITE)) {
      out.write(bytes.array(), bytes.arrayOffset() + bytes.position(), bytes.remaining());
    }
  }

  @Override
  public void delete(String name) throws IOException {
    delete(path(name), false);
    if (rename) {
      delete(path(name + TEMPORARY), false);
    }
  }

  private void delete(Path path, boolean recursive) throws IOException {
    if (files().exists(path) && !files().delete(path, recursive) && files().exists(path)) {
      throw new IOException(path + " was not deleted");
    }
  }

  @Override
  public List<RemoteObject> list(String folder) throws IOException {
    List<RemoteObject> objects = new ArrayList<>();
    for (FileStatus file : entries(folder)) {
      if (!file.isDir()) {
        String name = file.getPath().getName();
        objects.add(new RemoteObject(name, file.getLen(), file.getModificationTime()));
      }
    }
    return objects;
  }

  private FileStatus[] entries(String folder) throws IOException {
    if (!files().exists(path(folder))) {
      return new FileStatus[0];
    }
    FileStatus[] found = files().listStatus(path(folder));
    return found == null ? new FileStatus[0] : found;
  }

  @Override
  public void deleteFolder(String folder) throws IOException {
    delete(path(folder), true);
  }

  /** Does nothing, because the file systems belong to Flink. */
  @Override
  public void close() {}
}
