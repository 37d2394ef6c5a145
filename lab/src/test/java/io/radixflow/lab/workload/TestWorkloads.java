package io.radixflow.lab.workload;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Workloads from resources and from texts. */
public final class TestWorkloads {
  private TestWorkloads() {}

  /** The defaults with pages of another size. */
  static WorkloadOptions pages(int tokens) {
    return new WorkloadOptions(tokens, WorkloadOptions.MOONCAKE_BLOCK, 60, 8 * 3600, null);
  }

  public static Workload resource(String name, WorkloadOptions options) throws IOException {
    try (InputStream input =
        TestWorkloads.class.getResourceAsStream("/workloads/" + name + ".jsonl.gz")) {
      return read(options, Map.of(name, input.readAllBytes()));
    }
  }

  public static Workload text(WorkloadOptions options, String... files) throws IOException {
    Map<String, byte[]> named = new LinkedHashMap<>();
    for (String file : files) {
      named.put("file" + (named.size() + 1), file.getBytes(StandardCharsets.UTF_8));
    }
    return read(options, named);
  }

  /** Reads files, given by their names. */
  static Workload read(WorkloadOptions options, Map<String, byte[]> files) throws IOException {
    return new WorkloadReader(options, records -> {})
        .read(List.copyOf(files.keySet()), name -> new ByteArrayInputStream(files.get(name)));
  }
}
