package io.radixflow.kernels.model.file;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.tensor.StoredPart;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** Writes Hugging Face directories of tiny models with random weights in F32. */
public final class TinyDirectory {

  private TinyDirectory() {}

  /**
   * Writes {@code config.json} and {@code model.safetensors}, with every tensor that the
   * configuration needs: noise that keeps activations near 1, norms around their neutral value.
   *
   * @param config the text of {@code config.json}
   */
  public static Path write(Path directory, String config) throws IOException {
    Files.createDirectories(directory);
    Files.writeString(directory.resolve("config.json"), config);
    ObjectMapper mapper = new ObjectMapper();
    ModelConfig model =
        HuggingFaceConfig.read("config.json", directory.toString(), mapper.readTree(config));
    HuggingFaceFamily family =
        HuggingFaceFamily.of(model.architecture(), new SupportedShapes("config.json"));
    Map<String, StoredPart> stored = new TreeMap<>();
    HuggingFaceNames.of(model, family, false)
        .values()
        .forEach(part -> stored.put(part.name(), part));
    ObjectNode header = mapper.createObjectNode();
    ByteArrayOutputStream data = new ByteArrayOutputStream();
    for (StoredPart part : stored.values()) {
      ObjectNode entry = header.putObject(part.name()).put("dtype", "F32");
      entry.set("shape", mapper.valueToTree(part.shape()));
      int start = data.size();
      data.writeBytes(noise(part, family.gemma() ? 0 : 1));
      entry.putArray("data_offsets").add(start).add(data.size());
    }
    byte[] head = mapper.writeValueAsString(header).getBytes(StandardCharsets.UTF_8);
    Files.write(
        directory.resolve("model.safetensors"),
        GgufBuilder.join(GgufBuilder.longs(head.length), head, data.toByteArray()));
    return directory;
  }

  private static byte[] noise(StoredPart part, double neutral) {
    int elements = Math.toIntExact(part.storedElements());
    ByteBuffer bytes = ByteBuffer.allocate(4 * elements).order(ByteOrder.LITTLE_ENDIAN);
    Random random = new Random(part.name().hashCode());
    long[] shape = part.shape();
    boolean norm = part.name().contains("norm");
    double deviation =
        norm ? 0.15 : shape.length == 1 ? 0.3 : 1 / Math.sqrt(shape[shape.length - 1]);
    for (int i = 0; i < elements; i++) {
      bytes.putFloat((float) (random.nextGaussian() * deviation + (norm ? neutral : 0)));
    }
    return bytes.array();
  }
}
