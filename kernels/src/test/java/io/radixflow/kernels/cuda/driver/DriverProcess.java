package io.radixflow.kernels.cuda.driver;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A process of its own that loads the driver and prints its version, or why there is none. */
public final class DriverProcess {

  private DriverProcess() {}

  /** Loads the driver; with an argument once more through another class loader. */
  public static void main(String[] arguments) throws Exception {
    System.out.println(version());
    if (arguments.length > 0) {
      List<URL> path = new ArrayList<>();
      for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
        path.add(Path.of(entry).toUri().toURL());
      }
      try (URLClassLoader other =
          new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
        Class<?> again = other.loadClass(DriverProcess.class.getName());
        System.out.println(again.getMethod("version").invoke(null));
      }
    }
  }

  /** The version of CUDA, or why there is no driver. */
  public static String version() {
    try {
      return "CUDA " + CudaDriver.load().version();
    } catch (CudaUnavailableException e) {
      return e.getMessage();
    }
  }
}
