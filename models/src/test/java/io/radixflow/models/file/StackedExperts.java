package io.radixflow.models.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.models.file.QuantisedCopy.Stored;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Stores a model with the experts of a layer in one tensor, as transformers 5 has them. */
public final class StackedExperts {

  /** Layer, expert, projection, and the end of the name. */
  private static final Pattern EXPERT =
      Pattern.compile(
          "(model\\.layers\\.\\d+\\.)(?:mlp|block_sparse_moe)\\.experts\\.(\\d+)\\.(\\w+)\\.weight(.*)");

  private StackedExperts() {}

  /** Writes a copy of a directory; its experts were one by one. */
  public static Path write(Path source, Path target) throws IOException {
    Map<String, Stored> tensors = new LinkedHashMap<>();
    Map<String, Map<String, Stored>> stacks = new TreeMap<>();
    QuantisedCopy.read(source.resolve("model.safetensors"))
        .forEach(
            (name, tensor) -> {
              Matcher expert = EXPERT.matcher(name);
              if (expert.matches()) {
                String part = expert.group(3);
                boolean down = part.matches("down_proj|w2");
                String stack = (down ? "down_proj" : "gate_up_proj") + expert.group(4);
                String order =
                    String.format("%03d %b", Integer.valueOf(expert.group(2)), isUp(part));
                stacks
                    .computeIfAbsent(expert.group(1) + "mlp.experts." + stack, s -> new TreeMap<>())
                    .put(order, tensor);
              } else {
                tensors.put(name.replace("block_sparse_moe.gate", "mlp.gate"), tensor);
              }
            });
    assertThat(stacks).isNotEmpty();
    stacks.forEach((name, parts) -> tensors.put(name, stack(parts)));
    Files.createDirectories(target);
    Files.copy(source.resolve("config.json"), target.resolve("config.json"));
    QuantisedCopy.write(target, tensors);
    return target;
  }

  private static boolean isUp(String projection) {
    return projection.matches("up_proj|w3");
  }

  /** Joins parts of the same shape, for each expert one, or its gate and up. */
  private static Stored stack(Map<String, Stored> parts) {
    Stored first = parts.values().iterator().next();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    parts.values().forEach(part -> bytes.writeBytes(part.bytes()));
    long experts = parts.keySet().stream().map(order -> order.substring(0, 3)).distinct().count();
    long rows = parts.size() / experts * first.shape()[0];
    return new Stored(
        first.type(), new long[] {experts, rows, first.shape()[1]}, bytes.toByteArray());
  }
}
