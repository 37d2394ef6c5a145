package io.radixflow.models.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import io.radixflow.models.TinyModels;
import io.radixflow.models.file.QuantisedCopy.Format;
import io.radixflow.models.file.QuantisedCopy.Stored;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class QuantisedSafetensorsTest {
  private static final String Q = "model.layers.1.self_attn.q_proj.";

  @TempDir Path directory;

  @ParameterizedTest
  @CsvSource({
    "AWQ, INT4", "GPTQ, INT4", "PACKED_ASYMMETRIC, INT4", "PACKED_8, INT8",
        "GPTQ_8_SYMMETRIC, INT8",
    "INT8, INT8", "FP8, FP8", "FP8_ROWS, FP8", "GPTQ_ACTIVATION_ORDER, F16", "GPTQ_8, F32"
  })
  void codesStayAsNarrowAsTheyAreStored(Format format, TensorType type) throws IOException {
    write(format);
    try (ModelFile model = ModelFile.open(directory, directory)) {
      assertThat(model.tensor("blk.1.attn_q.weight").type()).isEqualTo(type);
      assertThat(model.tensor("token_embd.weight").type()).isEqualTo(TensorType.F32);
    }
  }

  @ParameterizedTest
  @EnumSource(Format.class)
  void whatALoadKeepsOfATensorIsKnownBeforeItIsRead(Format format) throws IOException {
    write(format);
    try (ModelFile model = ModelFile.open(directory, directory)) {
      Tensor tensor = model.tensor("blk.1.attn_q.weight");
      long known = tensor.heldBytes();
      assertThat(known).isPositive();
      assertThat(Set.copyOf(tensor.hold()).stream().mapToLong(ByteBuffer::capacity).sum())
          .isEqualTo(known);
    }
  }

  @Test
  void theSummaryNamesTheFormat() throws IOException {
    write(Format.AWQ);
    assertThat(ModelFile.summary(directory))
        .isEqualTo(
            "Hugging Face directory, architecture llama, quantised with awq, bits 4, group_size"
                + " 32");
  }

  @Test
  void scalesOfAnotherShapeAreRefused() throws IOException {
    refused(Format.AWQ, Q + "scales", s -> shaped(s, 64, 2), "expected F16 of [2, 64]");
    refused(Format.GPTQ, Q + "qzeros", s -> shaped(s, 2, 4), "expected I32 of [2, 8]");
    refused(Format.GPTQ, Q + "qweight", s -> shaped(s, 64, 8), "expected I32 of [8, 64]");
    refused(Format.FP8, Q + "weight_scale_inv", s -> shaped(s, 4), "in blocks of 32 x 32");
    refused(Format.FP8, Q + "weight", s -> shaped(s, 32, 128), "expected F8_E4M3 of [64, 64]");
    refused(Format.PACKED, Q + "weight_scale", s -> shaped(s, 2, 64), "expected F16 of [64, 2]");
    refused(
        Format.AWQ,
        Q + "scales",
        s -> new Stored("I16", s.shape(), s.bytes()),
        "scales of type I16 are not supported");
  }

  @Test
  void dataThatDoesNotFitItsShapeIsRefused() throws IOException {
    refused(
        Format.AWQ, Q + "qweight", s -> new Stored("I32", s.shape(), new byte[8]), "do not fit");
    refused(Format.AWQ, Q + "scales", s -> new Stored("F16", s.shape(), new byte[8]), "128 scales");
  }

  @Test
  void partsThatAreMissingAreNamed() throws IOException {
    refused(Format.AWQ, Q + "qzeros", s -> null, Q + "qzeros is missing");
    refused(Format.FP8, Q + "weight_scale_inv", s -> null, Q + "weight_scale is missing");
    refused(Format.GPTQ, Q + "qweight", s -> null, Q + "weight is missing");
  }

  @Test
  void aColumnOfAGroupThatDoesNotExistIsNamed() throws IOException {
    refused(
        Format.GPTQ,
        Q + "g_idx",
        s -> {
          s.bytes()[4 * 5] = 9;
          return s;
        },
        "column 5 is in group 9; there are 2");
  }

  @Test
  void scalesAndValuesThatAreNoNumbersAreRefusedWhenRead() throws IOException {
    change(
        Format.AWQ,
        Q + "scales",
        s -> {
          s.bytes()[1] = 0x7e;
          return s;
        });
    unreadable("scale of row 0 is NaN");
    change(
        Format.FP8,
        Q + "weight",
        s -> {
          s.bytes()[0] = 0x7f;
          return s;
        });
    unreadable("row 0 has a value that is not a number");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'quant_method':'bitsandbytes' | bitsandbytes is not supported; supported are fp8",
        "'quant_method':'mxfp4' | mxfp4 of llama is not supported",
        "'bits':4 | without a quant_method is not supported",
        "'quant_method':'awq','bits':4,'version':'gemv' | quantization_config.version: gemv",
        "'quant_method':'awq','bits':3 | quantization_config.bits: 3",
        "'quant_method':'awq','group_size':0 | group_size is 0",
        "'quant_method':'awq','zero_point':false | quantization_config.zero_point: false",
        "'quant_method':'gptq','bits':3 | quantization_config.bits: 3 bits are not supported; 2, 4"
            + " and 8 are; there may be a GGUF file",
        "'quant_method':'gptq' | bits is missing",
        "'quant_method':'gptq','bits':4,'group_size':-7 | group_size is -7",
        "'quant_method':'gptq','bits':4,'checkpoint_format':'marlin' | checkpoint_format: marlin",
        "'quant_method':'gptq','bits':4,'dynamic':{'.*up.*':{'bits':8}} | the pattern '.*up.*'",
        "'quant_method':'fp8','fmt':'e5m2' | quantization_config.fmt: e5m2",
        "'quant_method':'fp8','weight_block_size':[128,0] | two positive sizes",
        "'quant_method':'compressed-tensors' | config_groups is missing",
        "'quant_method':'compressed-tensors','format':'nvfp4-pack-quantized','config_groups':{'a':{'weights':{'num_bits':4}}}"
            + " | format: nvfp4-pack-quantized",
        "'quant_method':'compressed-tensors','sparsity_config':{'format':'sparse-24'} | sparse-24"
      })
  void whatQuantizationConfigSaysAndIsNotReadIsRefusedByName(String config, String message)
      throws IOException {
    write(Format.AWQ);
    Path file = directory.resolve("config.json");
    String json = Files.readString(file);
    String changed =
        json.replaceFirst(
            "\"quantization_config\":\\{.*\\}",
            "\"quantization_config\":{" + config.replace('\'', '"') + "}}");
    assertThat(changed).isNotEqualTo(json);
    Files.writeString(file, changed);
    assertRefused(message);
  }

  @Test
  void quantisedWeightsWithoutAConfigOfThemAreRefused() throws IOException {
    write(Format.AWQ);
    Path file = directory.resolve("config.json");
    Files.writeString(
        file, Files.readString(file).replace("quantization_config", "another_config"));
    assertRefused("is missing");
  }

  @Test
  void aBiasThatIsNotZeroHasNoPlace() throws IOException {
    refused(
        Format.GPTQ,
        Q + "bias",
        s -> {
          s.bytes()[3] = 1;
          return s;
        },
        Q + "bias is not part of a llama graph");
  }

  private static Stored shaped(Stored stored, long... shape) {
    return new Stored(stored.type(), shape, stored.bytes());
  }

  private void write(Format format) throws IOException {
    QuantisedCopy.write(TinyModels.path("llama"), format, directory, directory.resolve("dense"));
  }

  private void change(Format format, String name, UnaryOperator<Stored> change) throws IOException {
    write(format);
    Map<String, Stored> tensors = QuantisedCopy.read(directory.resolve("model.safetensors"));
    Stored changed = change.apply(tensors.get(name));
    if (changed == null) {
      tensors.remove(name);
    } else {
      tensors.put(name, changed);
    }
    QuantisedCopy.write(directory, tensors);
  }

  private void refused(Format format, String name, UnaryOperator<Stored> change, String message)
      throws IOException {
    change(format, name, change);
    assertRefused(message);
  }

  private void assertRefused(String message) {
    assertThatThrownBy(() -> ModelFile.open(directory, directory))
        .isInstanceOf(ModelFormatException.class)
        .hasMessageContaining(directory.toString())
        .hasMessageContaining(message);
  }

  private void unreadable(String message) {
    try (ModelFile model = ModelFile.open(directory, directory)) {
      Tensor tensor = model.tensor("blk.1.attn_q.weight");
      assertThatThrownBy(() -> tensor.rows(0, 1))
          .isInstanceOf(ModelFormatException.class)
          .hasMessageContaining(Q)
          .hasMessageContaining(message);
    }
  }
}
