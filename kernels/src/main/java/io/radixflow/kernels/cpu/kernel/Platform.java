package io.radixflow.kernels.cpu.kernel;

import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import java.util.Properties;

/**
 * The operating system and the architecture for which a native library is compiled, such as {@code
 * linux-x86_64}.
 */
record Platform(String name) {

  private static final String FOLDER = "/native/";

  /** The platform of this JVM. */
  static Platform current() {
    return of(System.getProperty("os.name", ""), System.getProperty("os.arch", ""));
  }

  /** The platform with Java's names of a system and an architecture. */
  static Platform of(String system, String architecture) {
    String os = system.startsWith("Mac") ? "macos" : system.toLowerCase(Locale.ROOT);
    String arch = architecture.equals("amd64") ? "x86_64" : architecture;
    return new Platform(os.replace(' ', '-') + "-" + arch);
  }

  /** The resource with the library, which a build may lack. */
  String library() {
    String suffix = name.startsWith("macos") ? ".dylib" : ".so";
    return FOLDER + name + "/libradixflow-cpu" + suffix;
  }

  /** Says which compiler made the library of this build, or why there is none. */
  String description() throws IOException {
    Properties properties = new Properties();
    try (InputStream in = Platform.class.getResourceAsStream(FOLDER + "native.properties")) {
      if (in != null) {
        properties.load(in);
      }
    }
    String compiler = properties.getProperty(name);
    return compiler != null
        ? name + ", " + compiler
        : "none for " + name + ": " + properties.getProperty("reason", "this build has none");
  }
}
