package io.radixflow.kernels.model.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.ModelFormatException;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HuggingFaceConfigTest {
  private static final String LLAMA =
      """
      {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "vocab_size": 100,
       "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 8192,
       "hidden_act": "silu", "rms_norm_eps": 1e-5, "tie_word_embeddings": true}
      """;

  @Test
  void llamaTwoHasAKeyForEachHeadAndTheUsualTheta() throws IOException {
    ModelConfig config = read("{}");
    assertThat(config.kvHeads()).isEqualTo(4);
    assertThat(config.headDim()).isEqualTo(16);
    assertThat(config.rope()).isEqualTo(new ModelConfig.Rope(10000, false, null));
    assertThat(config.tiedEmbedding()).isTrue();
  }

  @Test
  void llamaThreeScalingIsReadInBothSpellings() throws IOException {
    String scaling =
        "{\"rope_type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,\"high_freq_factor\":4,"
            + "\"original_max_position_embeddings\":8192,\"rope_theta\":500000}";
    ModelConfig.Rope expected =
        new ModelConfig.Rope(500000, false, new ModelConfig.Llama3Scaling(8, 1, 4, 8192));
    assertThat(read("{\"rope_theta\":500000,\"rope_scaling\":" + scaling + "}").rope())
        .isEqualTo(expected);
    assertThat(read("{\"rope_parameters\":" + scaling + "}").rope()).isEqualTo(expected);
  }

  @Test
  void mistralIsALlamaWhoseWindowIsOff() throws IOException {
    ModelConfig config =
        read("{\"model_type\":\"mistral\",\"num_key_value_heads\":2,\"sliding_window\":null}");
    assertThat(config.architecture()).isEqualTo("llama");
    assertThat(
            read("{\"model_type\":\"mistral\",\"num_key_value_heads\":2,\"sliding_window\":8192}"))
        .isNotNull();
  }

  @Test
  void qwenTwoHasBiasesAndIgnoresAWindowThatIsOff() throws IOException {
    ModelConfig config =
        read(
            "{\"model_type\":\"qwen2\",\"num_key_value_heads\":2,\"use_sliding_window\":false,\"sliding_window\":32,"
                + "\"layer_types\":[\"full_attention\",\"full_attention\"]}");
    assertThat(config.qkvBias()).isTrue();
    assertThat(config.qkNorm()).isFalse();
  }

  @Test
  void qwenThreeHasNormsAndHeadsOf128() throws IOException {
    ModelConfig config = read("{\"model_type\":\"qwen3\",\"num_key_value_heads\":2}");
    assertThat(config.qkNorm()).isTrue();
    assertThat(config.headDim()).isEqualTo(128);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'model_type':'deepseek_v3'} | architecture 'deepseek_v3' is not supported",
        "{'model_type':'mixtral'} | architecture 'mixtral' is not supported",
        "{'model_type':'gemma2'} | architecture 'gemma2' is not supported",
        "{'model_type':null} | is not supported",
        "{'model_type':'mistral','sliding_window':128} | sliding_window: a sliding window of 128",
        "{'model_type':'mistral'} | sliding_window: a sliding window of 4096",
        "{'model_type':'qwen3'} | num_key_value_heads is missing",
        "{'rope_interleaved':true} | rope_interleaved",
        "{'model_type':'qwen2','use_sliding_window':true} | use_sliding_window",
        "{'layer_types':['sliding_attention']} | layer_types: 'sliding_attention'",
        "{'rope_scaling':{'type':'linear','factor':2}} | rope_scaling: type 'linear'",
        "{'rope_scaling':{'rope_type':'yarn','factor':4}} | rope_scaling: type 'yarn'",
        "{'rope_scaling':{'rope_type':'llama3','factor':8}} | rope_scaling: factor 8.0",
        "{'attention_bias':true} | attention_bias: true is not supported",
        "{'mlp_bias':true} | mlp_bias",
        "{'hidden_act':'gelu'} | hidden_act: gelu is not supported",
        "{'final_logit_softcapping':30.0} | final_logit_softcapping",
        "{'attn_logit_softcapping':50.0} | attn_logit_softcapping",
        "{'quantization_config':{'quant_method':'gptq'}} | quantization_config",
        "{'num_local_experts':8} | num_local_experts",
        "{'kv_lora_rank':512} | kv_lora_rank",
        "{'partial_rotary_factor':0.5} | partial_rotary_factor",
        "{'hidden_size':null} | hidden_size is missing",
        "{'hidden_size':'64'} | hidden_size is missing or not a whole number",
        "{'hidden_size':6.4} | hidden_size",
        "{'num_hidden_layers':0} | num_hidden_layers is 0",
        "{'num_hidden_layers':99999999999} | num_hidden_layers is 99999999999",
        "{'num_key_value_heads':3} | do not share",
        "{'num_attention_heads':64} | rotary embedding needs pairs",
        "{'num_attention_heads':128} | rotary embedding needs pairs",
        "{'rms_norm_eps':-1} | epsilon",
        "{'rms_norm_eps':'small'} | rms_norm_eps is not a number",
        "{'rope_theta':0} | rope base",
        "{'tie_word_embeddings':'yes'} | tie_word_embeddings"
      })
  void unsupportedGraphsAreRefusedByName(String change, String message) {
    assertThatThrownBy(() -> read(change.replace('\'', '"')))
        .isInstanceOf(ModelFormatException.class)
        .hasMessageContaining("config.json")
        .hasMessageContaining(message);
  }

  private static ModelConfig read(String change) throws IOException {
    ObjectMapper mapper = new ObjectMapper();
    ObjectNode json = (ObjectNode) mapper.readTree(LLAMA);
    json.setAll((ObjectNode) mapper.readTree(change));
    return HuggingFaceConfig.read("config.json", "test", json);
  }
}
