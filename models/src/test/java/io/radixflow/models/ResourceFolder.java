package io.radixflow.models;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/** Folders of test resources as files, even if Maven has packed them into a module's test jar. */
public final class ResourceFolder {
  private static final Map<String, Path> FOLDERS = new ConcurrentHashMap<>();

  private ResourceFolder() {}

  /**
   * Returns a folder of files. Files of a jar are copied to a temporary directory once per process.
   *
   * @param name absolute name of the resource, such as {@code /tiny}
   */
  public static Path of(String name) {
    return FOLDERS.computeIfAbsent(name, ResourceFolder::open);
  }

  private static Path open(String name) {
    URL url = Objects.requireNonNull(ResourceFolder.class.getResource(name), name);
    try {
      return url.getProtocol().equals("jar")
          ? copy(url, name)
          : Path.of(URI.create(url.toString()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path copy(URL url, String name) throws IOException {
    Path copies = Files.createTempDirectory(Path.of("target"), "resources");
    String prefix = name.substring(1) + "/";
    JarURLConnection connection = (JarURLConnection) url.openConnection();
    connection.setUseCaches(false);
    try (JarFile jar = connection.getJarFile()) {
      for (JarEntry entry : jar.stream().toList()) {
        if (entry.getName().startsWith(prefix) && !entry.isDirectory()) {
          Path file = copies.resolve(entry.getName());
          Files.createDirectories(file.getParent());
          try (InputStream in = jar.getInputStream(entry)) {
            Files.copy(in, file);
          }
        }
      }
    }
    return copies.resolve(prefix);
  }
}
