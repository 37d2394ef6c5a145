package io.radixflow.models.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Rope;
import io.radixflow.models.file.GgufBuilder.Raw;
import io.radixflow.models.file.format.GgufMetadata;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GgufModelTest {
  @TempDir Path directory;
  private final GgufBuilder model = GgufBuilder.llama();
  private Path file;

  @BeforeEach
  void chooseFile() {
    file = directory.resolve("model.gguf");
  }

  @Test
  void aSmallModelOpensWithDefaultsForMissingFields() throws IOException {
    try (ModelFile opened = ModelFile.open(model.write(file), directory)) {
      ModelConfig config = opened.config();
      assertThat(config.headDim()).isEqualTo(16);
      assertThat(config.tiedEmbedding()).isTrue();
      assertThat(config.rope()).isEqualTo(new Rope(10000, true, null));
      assertThat(config.name()).isEqualTo("llama");
      assertThat(opened.tensor("blk.0.attn_k.weight").rows()).isEqualTo(16);
    }
  }

  @Test
  void aFileOfVersionTwoIsReadLikeVersionThree() throws IOException {
    model.version = 2;
    assertThatCode(() -> open()).doesNotThrowAnyException();
  }

  @Test
  void valuesOfEveryTypeAreRead() throws IOException {
    model
        .with("a.u8", new Raw(0, new byte[] {-1}))
        .with("a.i8", new Raw(1, new byte[] {-1}))
        .with("a.u16", new Raw(2, new byte[] {-1, -1}))
        .with("a.u32", new Raw(4, GgufBuilder.ints(-1)))
        .with("a.i64", new Raw(11, GgufBuilder.longs(Long.MIN_VALUE)))
        .with("a.f64", new Raw(12, GgufBuilder.longs(Double.doubleToLongBits(0.1))))
        .with("a.bool", true)
        .with("a.strings", array(8, 2, GgufBuilder.string("é"), GgufBuilder.string("")))
        .with("a.ints", array(5, 2, GgufBuilder.ints(-7, 9)))
        .with("a.floats", array(6, 1, GgufBuilder.ints(Float.floatToIntBits(1.5f))))
        .with("a.wide", array(10, 1, GgufBuilder.longs(1L << 40)));
    try (ModelFile opened = ModelFile.open(model.write(file), directory)) {
      GgufMetadata metadata = opened.metadata().orElseThrow();
      assertThat(metadata.integer("a.u8")).isEqualTo(255);
      assertThat(metadata.integer("a.i8")).isEqualTo(-1);
      assertThat(metadata.integer("a.u16")).isEqualTo(65535);
      assertThat(metadata.integer("a.u32")).isEqualTo(4294967295L);
      assertThat(metadata.integer("a.i64")).isEqualTo(Long.MIN_VALUE);
      assertThat(metadata.real("a.f64")).isEqualTo(0.1);
      assertThat(metadata.bool("a.bool")).isTrue();
      assertThat(metadata.strings("a.strings")).containsExactly("é", "");
      assertThat(metadata.integers("a.ints")).containsExactly(-7, 9);
      assertThat(metadata.reals("a.floats")).containsExactly(1.5f);
      assertThatThrownBy(() -> metadata.integers("a.wide")).hasMessageContaining("a.wide");
      assertThatThrownBy(() -> metadata.string("a.u8")).hasMessageContaining("expected a string");
      assertThatThrownBy(() -> metadata.real("a.none"))
          .isInstanceOf(ModelFormatException.class)
          .hasMessageContaining("a.none: missing");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "llama.expert_group_count, 8",
    "llama.attention.kv_lora_rank, 512",
    "llama.nextn_predict_layers, 1",
    "llama.embedding_length_per_layer_input, 8",
    "llama.attention.value_length, 8"
  })
  void unsupportedGraphsAreRefusedByName(String key, int value) {
    model.with(key, value);
    refused(key, "not supported");
  }

  @Test
  void otherRopeScalingsAndDirectionsAreRefusedByName() {
    model.with("llama.rope.scaling.type", "spiral");
    refused("llama.rope.scaling.type", "spiral");
    model.with("llama.rope.scaling.type", "yarn").with("llama.rope.scaling.yarn_ext_factor", 2f);
    refused("llama.rope.scaling.yarn_ext_factor");
    model.with("llama.rope.scaling.type", "none").with("llama.logit_scale", 4f);
    refused("llama.logit_scale");
    model.with("llama.logit_scale", 1f).with("llama.attention.causal", false);
    refused("llama.attention.causal");
  }

  @ParameterizedTest
  @CsvSource({
    "llama.rope.scaling.factor, 0.5",
    "llama.rope.scaling.factor, NaN",
    "llama.attention.scale, -1",
    "llama.attention.scale, Infinity",
    "llama.residual_scale, -0.5",
    "llama.attn_logit_softcapping, -3"
  })
  void factorsThatAreNotPositiveAndFiniteAreNamed(String key, float value) {
    model.with(key, value);
    refused(key);
  }

  @Test
  void aPatternOfWindowsHasAValueForEachLayer() {
    model
        .with("llama.attention.sliding_window", 32)
        .with("llama.attention.sliding_window_pattern", List.of(true, false));
    refused("llama.attention.sliding_window_pattern", "2 values for 1 layers");
    model.with("llama.attention.sliding_window_pattern", "every other");
    refused("llama.attention.sliding_window_pattern");
  }

  @ParameterizedTest
  @ValueSource(ints = {17, 7, 18})
  void aRotatedPartThatIsNoPairsOfAHeadIsNamed(int width) {
    model.with("llama.rope.dimension_count", width);
    refused("llama.rope.dimension_count", "rotary embedding needs pairs");
  }

  @Test
  void aWindowOfTheWholeContextIsAccepted() {
    model.with("llama.attention.sliding_window", 64);
    assertThatCode(() -> open()).doesNotThrowAnyException();
  }

  @Test
  void anotherArchitectureIsRefusedWithThoseThatAreServed() {
    model.with("general.architecture", "mamba");
    refused("architecture 'mamba' is not supported; supported: llama, mistral3, qwen2, qwen3");
  }

  @ParameterizedTest
  @CsvSource({
    "llama.block_count, 0",
    "llama.block_count, 100000",
    "llama.attention.head_count, 0",
    "llama.attention.head_count_kv, 3",
    "llama.attention.key_length, 15",
    "llama.context_length, -1",
    "llama.embedding_length, 268435456",
    "llama.feed_forward_length, 63"
  })
  void sizesOutOfRangeAreRefused(String key, int value) {
    model.with(key, value).with("llama.attention.value_length", 15);
    if (!key.equals("llama.attention.key_length")) {
      model.metadata.remove("llama.attention.value_length");
    }
    refused("");
  }

  @Test
  void valuesThatAreMissingOrOfAnotherTypeAreNamed() {
    model.with("llama.block_count", "two");
    refused("llama.block_count", "expected an integer");
    model.metadata.remove("llama.block_count");
    refused("llama.block_count: missing");
  }

  @Test
  void expertsAreRowsOfTheTensorThatHasThemAll() throws IOException {
    withExperts();
    byte[] bytes = model.bytes();
    for (int i = 0; i < 48 * 32; i++) {
      int value = Float.floatToIntBits(i);
      byte[] stored = GgufBuilder.ints(value);
      System.arraycopy(stored, 0, bytes, bytes.length - 4 * 48 * 32 + 4 * i, 4);
    }
    Files.write(file, bytes);
    try (ModelFile opened = ModelFile.open(file, directory)) {
      Experts experts = (Experts) opened.config().layer(0).feedForward();
      assertThat(experts.count()).isEqualTo(3);
      assertThat(experts.expert().width()).isEqualTo(16);
      float[] row = new float[32];
      opened.tensor("blk.0.ffn_up.2.weight").dequantize(1, row, 0);
      assertThat(row[5]).isEqualTo((2 * 16 + 1) * 32 + 5);
      assertThat(opened.tensor("blk.0.ffn_up.2.weight").rows()).isEqualTo(16);
    }
  }

  @Test
  void expertsOfAnotherShapeOrNumberAreRefused() {
    withExperts().with("llama.expert_count", 4);
    refused("blk.0.ffn_gate_inp.weight is 3 x 32; expected 4 x 32");
    model.replace("blk.0.ffn_gate_inp.weight", new long[] {32, 4}, 0, -1, 512);
    refused("_exps.weight is", "expected 4 of");
    model.replace("blk.0.ffn_gate_inp.weight", new long[] {32, 3}, 0, -1, 384);
    model.with("llama.expert_count", 3).with("llama.expert_used_count", 4);
    refused("4 of 3 experts per token");
  }

  private GgufBuilder withExperts() {
    for (String dense : List.of("gate", "up", "down")) {
      model.without("blk.0.ffn_" + dense + ".weight");
    }
    return model
        .with("llama.expert_count", 3)
        .with("llama.expert_used_count", 2)
        .floats("blk.0.ffn_gate_inp.weight", 32, 3)
        .floats("blk.0.ffn_gate_exps.weight", 32, 16, 3)
        .floats("blk.0.ffn_down_exps.weight", 16, 32, 3)
        .floats("blk.0.ffn_up_exps.weight", 32, 16, 3);
  }

  @Test
  void everyTensorOfTheGraphMustBeThereInItsShape() {
    refusedWithout("blk.0.ffn_up.weight");
    model.floats("blk.0.ffn_up.weight", 64, 32);
    refused("blk.0.ffn_up.weight is 32 x 64; expected 64 x 32");
  }

  @Test
  void aTensorWithoutAPlaceInTheGraphIsRefused() {
    model.floats("blk.0.attn_r.bias", 32);
    refused("blk.0.attn_r.bias is not part of a llama graph");
  }

  @Test
  void anEncodingThatIsNotSupportedIsNamed() {
    model.replace("blk.0.attn_q.weight", new long[] {32, 32}, 16, -1, 4096);
    refused("blk.0.attn_q.weight: element type IQ2_XXS is not supported");
  }

  @Test
  void rowsMustBeWholeBlocks() {
    model.replace("blk.0.attn_q.weight", new long[] {32, 32}, 12, -1, 144 * 32);
    refused("32 columns are not whole blocks of Q4_K");
  }

  @Test
  void divisorsOfTheRotaryFrequenciesAreApplied() throws IOException {
    model.floats("rope_freqs.weight", 8);
    byte[] bytes = model.bytes();
    byte[] divisors =
        GgufBuilder.ints(Float.floatToIntBits(1f), 0x40000000, 0x3f800000, 0x3f800000);
    System.arraycopy(divisors, 0, bytes, bytes.length - 32, 16);
    System.arraycopy(divisors, 0, bytes, bytes.length - 16, 16);
    Files.write(file, bytes);
    double[] plain = new Rope(10000, true, null).frequencies(16);
    try (ModelFile opened = ModelFile.open(file, directory)) {
      double[] scaled = opened.config().rope().frequencies(16);
      assertThat(scaled[1]).isEqualTo(plain[1] / 2);
      assertThat(scaled[2]).isEqualTo(plain[2]);
    }
  }

  @Test
  void aModelInSeveralFilesIsOpenedByItsFirst() throws IOException {
    Path first = split(2);
    try (ModelFile opened = ModelFile.open(first, directory)) {
      assertThat(opened.tensor("blk.0.ffn_down.weight").rows()).isEqualTo(32);
      float[] norm = new float[32];
      opened.tensor("output_norm.weight").dequantize(0, norm, 0);
      assertThat(norm).containsOnly(0);
      assertThat(ModelFile.summary(first)).contains("F32=11");
      String before = opened.fingerprint();
      Path second = directory.resolve("m-00002-of-00002.gguf");
      assertThat(ModelFile.bytes(first)).isEqualTo(Files.size(first) + Files.size(second));
      assertThat(ModelFile.bytes(second)).isEqualTo(Files.size(second));
      assertThat(opened.tensor("token_embd.weight").where())
          .isEqualTo(first + ": tensor token_embd.weight");
      assertThat(opened.tensor("output_norm.weight").where())
          .isEqualTo(second + ": tensor output_norm.weight");
      byte[] bytes = Files.readAllBytes(second);
      bytes[bytes.length - 1] = 1;
      Files.write(second, bytes);
      try (ModelFile changed = ModelFile.open(first, directory)) {
        assertThat(changed.fingerprint()).isNotEqualTo(before);
      }
    }
  }

  @Test
  void filesOfAModelThatAreMissingOrDoNotBelongTogetherAreNamed() throws IOException {
    Path first = split(2);
    Path second = directory.resolve("m-00002-of-00002.gguf");
    refused(
        second,
        "this is part 2 of 2; open the first part, whose name ends with -00001-of-00002.gguf");
    Files.copy(first, second, StandardCopyOption.REPLACE_EXISTING);
    refused(first, second + ": tensor token_embd.weight is also in another part");
    Files.write(second, new GgufBuilder().with("split.no", 1).with("split.count", 3).bytes());
    refused(first, second + ": metadata split.no: part 1 of 3; expected 1 of 2");
    Files.write(second, new byte[10]);
    refused(first, second.toString());
    Files.delete(second);
    assertThat(ModelFile.bytes(first)).isEqualTo(Files.size(first));
    refused(first, "its part m-00002-of-00002.gguf is missing");
    refused(Files.move(first, directory.resolve("m.gguf")), "split.count");
    split(3);
    refused(first, "at most 256 are supported, with names that end with -00001-of-00003.gguf");
  }

  /** Writes the model's last two tensors into a second file; the first says how many there are. */
  private Path split(int count) throws IOException {
    GgufBuilder second = new GgufBuilder().with("split.no", 1).with("split.count", count);
    GgufBuilder whole = GgufBuilder.llama();
    int size = whole.tensors.size();
    second.tensors.addAll(whole.tensors.subList(size - 2, size));
    whole.tensors.subList(size - 2, size).clear();
    second.write(directory.resolve("m-00002-of-00002.gguf"));
    return whole
        .with("split.no", 0)
        .with("split.count", count)
        .write(directory.resolve("m-00001-of-00002.gguf"));
  }

  private void refused(Path path, String part) {
    assertThatThrownBy(() -> ModelFile.open(path, directory))
        .isInstanceOf(ModelFormatException.class)
        .hasMessageContaining(part);
  }

  @Test
  void divisorsThatAreNotPositiveAreRefused() {
    model.floats("rope_freqs.weight", 8);
    refused("rope_freqs.weight has the value 0.0");
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MAX_VALUE, 1L << 62, -32, 64, 33})
  void offsetsBeyondTheFileOverAnotherTensorOrUnalignedAreRefused(long offset) {
    model.replace("output_norm.weight", new long[] {32}, 0, offset & Long.MAX_VALUE, 128);
    refused("output_norm.weight");
  }

  @Test
  void dimensionsWhoseProductOverflowsAreRefused() {
    long most = Integer.MAX_VALUE;
    model.replace("output_norm.weight", new long[] {most, most, most, most}, 0, -1, 128);
    refused("output_norm.weight", "its data ends after the file");
  }

  @Test
  void countsBeyondTheFileAreRefusedBeforeAnythingIsAllocated() {
    model.tensorCount = 65_000;
    refused("tensor");
    model.tensorCount = Long.MAX_VALUE;
    refused("tensor count", "above the limit");
    model.tensorCount = -1;
    model.entryCount = 1L << 40;
    refused("metadata count", "above the limit");
    model.entryCount = -1;
    model.with("a.strings", array(8, 4_000_000));
    refused("a.strings", "do not fit");
    model.with("a.strings", array(8, 1L << 60));
    refused("a.strings", "above the limit");
    model.with("a.strings", new Raw(8, GgufBuilder.longs(1 << 23)));
    refused("a.strings", "do not fit");
  }

  @Test
  void arraysInArraysAndUnknownTypesAreRefused() {
    model.with("a.nested", array(9, 1));
    refused("a.nested");
    model.with("a.nested", new Raw(77, new byte[0]));
    refused("value type 77 is unknown");
  }

  @Test
  void foreignFilesAreRefusedWithTheirReason() throws IOException {
    model.magic = 0x04034b50;
    refused("not a GGUF file");
    model.magic = 0x46554747;
    model.version = 1;
    refused("version 1 is not supported");
    model.version = 0x03000000;
    refused("big-endian");
    Files.write(file, new byte[0]);
    assertThatThrownBy(() -> ModelFile.open(file, directory))
        .isInstanceOf(ModelFormatException.class);
    assertThatThrownBy(() -> ModelFile.open(directory.resolve("none"), directory))
        .isInstanceOf(ModelFormatException.class)
        .hasMessageContaining("no such file");
  }

  @Test
  void namesThatStandTwiceAreRefused() {
    model.floats("output_norm.weight", 32);
    refused("output_norm.weight", "twice");
  }

  @Test
  void stringsThatAreNotUtf8AreRefused() {
    byte[] text = GgufBuilder.join(GgufBuilder.longs(2), new byte[] {(byte) 0xc3, 0x28});
    model.with("general.name", new Raw(8, text));
    refused("general.name", "UTF-8");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3, 48, 1 << 21})
  void alignmentsThatAreNoPowerOfTwoWithinReasonAreRefused(int alignment) {
    model.with("general.alignment", alignment);
    refused("general.alignment");
  }

  @Test
  void everyTruncationIsRefused() throws IOException {
    byte[] bytes = model.bytes();
    for (int length = 0; length < bytes.length; length += length < 1500 ? 7 : 997) {
      Path truncated = Files.write(directory.resolve("t" + length), Arrays.copyOf(bytes, length));
      assertThatThrownBy(() -> ModelFile.open(truncated, directory))
          .isInstanceOf(ModelFormatException.class)
          .hasMessageContaining(truncated.toString());
    }
  }

  private static Raw array(int type, long count, byte[]... elements) {
    byte[] head = GgufBuilder.join(GgufBuilder.ints(type), GgufBuilder.longs(count));
    return new Raw(9, GgufBuilder.join(head, GgufBuilder.join(elements)));
  }

  @Test
  void layersThatDraftTokensAreLeftOut() throws IOException {
    glm();
    try (ModelFile opened = ModelFile.open(model.write(file), directory)) {
      assertThat(opened.config().layers()).isEqualTo(1);
      assertThat(opened.tensor("blk.0.ffn_norm.weight").columns()).isEqualTo(32);
    }
    model.with("glm4moe.nextn_predict_layers", 2);
    refused("glm4moe.nextn_predict_layers", "2 of 2 layers");
    model.with("glm4moe.nextn_predict_layers", 1).floats("blk.2.nextn.enorm.weight", 32);
    refused("tensor blk.2.nextn.enorm.weight is not part of a glm4moe graph");
  }

  @Test
  void headsWithoutAPartThatIsNotRotatedAreRefused() {
    latent(2, 16);
    model.with("deepseek2.attention.key_length_mla", 16);
    refused("deepseek2.attention.key_length_mla", "of which 16 are rotated");
  }

  @Test
  void moreHeadsThanAnyModelHasAreRefusedBeforeTheirTensorsAreNamed() {
    latent(1 << 18, 16);
    model.with("deepseek2.attention.key_length_mla", 24).with("deepseek2.block_count", 4);
    refused("experts and heads in all layers");
  }

  /** Makes the model one of the other architecture, with a layer that drafts tokens. */
  private void glm() {
    rename("glm4moe");
    model.with("glm4moe.block_count", 2).with("glm4moe.nextn_predict_layers", 1);
    model.without("blk.0.ffn_norm.weight").floats("blk.0.post_attention_norm.weight", 32);
    model.floats("blk.1.nextn.enorm.weight", 32);
  }

  private void latent(int heads, int rotated) {
    rename("deepseek2");
    model
        .with("deepseek2.attention.head_count", heads)
        .with("deepseek2.rope.dimension_count", rotated)
        .with("deepseek2.attention.kv_lora_rank", 16)
        .with("deepseek2.attention.value_length_mla", 16);
  }

  private void rename(String architecture) {
    for (String key : List.copyOf(model.metadata.keySet())) {
      if (key.startsWith("llama.")) {
        model.with(architecture + key.substring(5), model.metadata.remove(key));
      }
    }
    model.with("general.architecture", architecture);
  }

  private void refusedWithout(String tensor) {
    model.without(tensor);
    refused("tensor " + tensor + " is missing");
  }

  private void refused(String... parts) {
    assertThatThrownBy(this::open)
        .isInstanceOf(ModelFormatException.class)
        .hasMessageContaining(file.toString())
        .satisfies(e -> List.of(parts).forEach(part -> assertThat(e).hasMessageContaining(part)));
  }

  private void open() throws IOException {
    ModelFile.open(model.write(file), directory).close();
  }
}
