package io.radixflow.kernels.cuda.driver;

import io.radixflow.models.io.ScratchDirectory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import jcuda.JCudaVersion;

/**
 * Loads JCuda's native library from a directory that only this process uses.
 *
 * <p>JCuda itself unpacks the library to {@code java.io.tmpdir} under a fixed name and uses a file
 * that is already there, even if another user wrote it. So this class unpacks the library into a
 * new directory that only this user can enter. It initialises JCuda with that directory as {@code
 * java.io.tmpdir}, and deletes the file once it is mapped.
 */
final class JCudaNatives {

  private static final String TEMPORARY = "java.io.tmpdir";

  private JCudaNatives() {}

  /** Initialises {@code JCudaDriver}. Throws a {@link LinkageError} if that fails. */
  static void load() throws IOException {
    String file = "libJCudaDriver-" + JCudaVersion.get() + "-linux-x86_64.so";
    try (ScratchDirectory folder = ScratchDirectory.create("jcuda")) {
      unpack("/lib/" + file, folder.path().resolve(file));
      initialise(folder.path());
    }
  }

  private static void unpack(String resource, Path to) throws IOException {
    try (InputStream in = JCudaVersion.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new UnsatisfiedLinkError(resource + " is not on the class path");
      }
      Files.copy(in, to);
    }
  }

  private static void initialise(Path folder) {
    String before = System.getProperty(TEMPORARY);
    System.setProperty(TEMPORARY, folder.toString());
    try {
      Class.forName("jcuda.driver.JCudaDriver", true, JCudaVersion.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new NoClassDefFoundError(e.getMessage());
    } finally {
      System.setProperty(TEMPORARY, before);
    }
  }
}
