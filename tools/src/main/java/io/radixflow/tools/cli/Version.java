package io.radixflow.tools.cli;

import picocli.CommandLine.IVersionProvider;

/** Reads the version from the jar's manifest. */
final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    String version = Radixflow.class.getPackage().getImplementationVersion();
    return new String[] {
      "radixflow " + (version == null ? "(unpackaged)" : version),
      "Java " + Runtime.version() + ", " + System.getProperty("java.vm.name")
    };
  }
}
