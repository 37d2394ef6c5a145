package io.radixflow.models.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.FeedForward.Gating;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Rope;
import io.radixflow.models.Rope.YarnScaling;
import java.io.IOException;
import java.util.List;
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
    assertThat(config.rope()).isEqualTo(new Rope(10000, false, null));
    assertThat(config.tiedEmbedding()).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"llama, 2048", "gemma2, 8192", "qwen3_moe, 32768", "gpt_oss, 131072"})
  void aFileWithoutAContextHasTheOneOfTheLibrary(String type, int context) throws IOException {
    String change =
        "{'model_type':'%s','num_key_value_heads':2,'max_position_embeddings':null}"
            .replace('\'', '"');
    assertThat(read(String.format(change, type)).contextLength()).isEqualTo(context);
  }

  @Test
  void llamaThreeScalingIsReadInBothSpellings() throws IOException {
    String scaling =
        "{\"rope_type\":\"llama3\",\"factor\":8,\"low_freq_factor\":1,\"high_freq_factor\":4,"
            + "\"original_max_position_embeddings\":8192,\"rope_theta\":500000}";
    Rope expected = new Rope(500000, false, new Rope.Llama3Scaling(8, 1, 4, 8192));
    assertThat(read("{\"rope_theta\":500000,\"rope_scaling\":" + scaling + "}").rope())
        .isEqualTo(expected);
    assertThat(read("{\"rope_parameters\":" + scaling + "}").rope()).isEqualTo(expected);
  }

  @Test
  void mistralHasAWindowInAllLayersUnlessItIsOff() throws IOException {
    String mistral = "{'model_type':'mistral','num_key_value_heads':2,'sliding_window':%s}";
    assertThat(windows(String.format(mistral, "null"))).containsExactly(0, 0);
    assertThat(windows(String.format(mistral, "128"))).containsExactly(128, 128);
    assertThat(windows("{'model_type':'mistral','num_key_value_heads':2}"))
        .containsExactly(4096, 4096);
  }

  @Test
  void qwenTwoHasBiasesAndIgnoresAWindowThatIsOff() throws IOException {
    String change =
        "{'model_type':'qwen2','num_key_value_heads':2,'use_sliding_window':%s,"
            + "'sliding_window':32,'max_window_layers':1}";
    ModelConfig config = read(String.format(change, "false").replace('\'', '"'));
    assertThat(config.qkvBias()).isTrue();
    assertThat(config.qkNorm()).isFalse();
    assertThat(windows(String.format(change, "false"))).containsExactly(0, 0);
    assertThat(windows(String.format(change, "true"))).containsExactly(0, 32);
  }

  @Test
  void kindsOfLayersComeFromTheirListOrFromThePattern() throws IOException {
    String gemma = "{'model_type':'gemma3_text','num_key_value_heads':2,'sliding_window':32,%s}";
    assertThat(windows(String.format(gemma, "'sliding_window_pattern':2"))).containsExactly(32, 0);
    String listed = "'layer_types':['full_attention','sliding_attention']";
    assertThat(windows(String.format(gemma, listed))).containsExactly(0, 32);
  }

  @Test
  void yarnTakesItsMagnitudeFromTheFactorUnlessItIsGiven() throws IOException {
    String yarn = "{'rope_scaling':{'type':'yarn','factor':4%s}}";
    assertThat(rope(String.format(yarn, "")).magnitude()).isEqualTo(0.1 * Math.log(4) + 1);
    assertThat(rope(String.format(yarn, ",'attention_factor':1.5")).magnitude()).isEqualTo(1.5);
    assertThat(rope(String.format(yarn, ",'mscale':1,'mscale_all_dim':1")).magnitude())
        .isEqualTo(1);
  }

  @Test
  void linearScalingDividesAllFrequencies() throws IOException {
    double[] plain = rope("{}").frequencies(16);
    double[] scaled = rope("{'rope_scaling':{'type':'linear','factor':2}}").frequencies(16);
    for (int i = 0; i < plain.length; i++) {
      assertThat(scaled[i]).isEqualTo(plain[i] / 2);
    }
  }

  @Test
  void theOriginalContextBesideTheScalingCountsBeforeTheOneInIt() throws IOException {
    String yarn =
        "{'rope_scaling':{'type':'yarn','factor':4,'original_max_position_embeddings':64}%s}";
    assertThat(((YarnScaling) rope(String.format(yarn, "")).scaling()).originalContext())
        .isEqualTo(64);
    String outer = String.format(yarn, ",'original_max_position_embeddings':32");
    assertThat(((YarnScaling) rope(outer).scaling()).originalContext()).isEqualTo(32);
  }

  @Test
  void windowedLayersWithABaseOfTheirOwnDoNotSeeTheCommonOne() throws IOException {
    String change =
        "{'model_type':'%s','num_key_value_heads':2,'rope_theta':7000,'sliding_window':8,"
            + "'layer_types':['sliding_attention','full_attention']%s}";
    assertThat(bases(String.format(change, "olmo3", ""))).containsExactly(500_000.0, 7000.0);
    assertThat(bases(String.format(change, "gemma3_text", ""))).containsExactly(10_000.0, 7000.0);
    assertThat(bases(String.format(change, "gemma3_text", ",'rope_local_base_freq':500")))
        .containsExactly(500.0, 7000.0);
    assertThat(bases(String.format(change, "ministral", ""))).containsExactly(7000.0, 7000.0);
  }

  private static List<Double> bases(String change) throws IOException {
    return read(change.replace('\'', '"')).blocks().stream()
        .map(layer -> layer.attention().rope().base())
        .toList();
  }

  @Test
  void expertsHaveTheActivationOfTheModel() throws IOException {
    for (String kind : List.of("mixtral", "qwen3_moe", "deepseek_v3")) {
      String change =
          "{'model_type':'%s','num_key_value_heads':2,'first_k_dense_replace':0,"
              + "'hidden_act':'gelu_pytorch_tanh'}";
      assertThat(experts(String.format(change, kind)).expert().gating())
          .as(kind)
          .isEqualTo(Gating.GELU_TANH);
    }
  }

  @ParameterizedTest
  @CsvSource({"silu, SILU", "swish, SILU", "gelu, GELU", "gelu_pytorch_tanh, GELU_TANH"})
  void activationsAreKnownByTheirNames(String name, Gating gating) throws IOException {
    String change = "{'model_type':'mixtral','num_key_value_heads':2,'hidden_act':'%s'}";
    assertThat(experts(String.format(change, name)).expert().gating()).isEqualTo(gating);
  }

  @Test
  void sharedExpertsAreThereUnlessTheirNumberOrWidthIsNone() throws IOException {
    String deepseek =
        "{'model_type':'deepseek_v2','moe_intermediate_size':24%s,'topk_method':'greedy'}";
    assertThat(experts(String.format(deepseek, "")).sharedWidth()).isEqualTo(48);
    assertThat(experts(String.format(deepseek, ",'n_shared_experts':3")).sharedWidth())
        .isEqualTo(72);
    assertThat(experts(String.format(deepseek, ",'n_shared_experts':null")).sharedWidth()).isZero();
    assertThat(experts(String.format(deepseek, ",'n_shared_experts':0")).sharedWidth()).isZero();
    Experts qwen =
        experts(
            "{'model_type':'qwen2_moe','num_key_value_heads':2,"
                + "'shared_expert_intermediate_size':0}");
    assertThat(qwen.sharedWidth()).isZero();
    assertThat(qwen.sharedGated()).isFalse();
  }

  private static Experts experts(String change) throws IOException {
    return (Experts) read(change.replace('\'', '"')).layer(1).feedForward();
  }

  private static List<Integer> windows(String change) throws IOException {
    return read(change.replace('\'', '"')).blocks().stream()
        .map(layer -> layer.attention().window())
        .toList();
  }

  private static Rope rope(String change) throws IOException {
    return read(change.replace('\'', '"')).rope();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'model_type':'mamba'} | architecture 'mamba' is not supported",
        "{'model_type':'gemma3'} | architecture 'gemma3' is not supported",
        "{'model_type':null} | is not supported",
        "{'model_type':'mistral','sliding_window':-1,'num_key_value_heads':2} | sliding_window is"
            + " -1",
        "{'model_type':'qwen3'} | 4 heads do not share 32",
        "{'model_type':'gemma2','layer_types':['full_attention']} | layer_types names 1 layers of"
            + " 2",
        "{'model_type':'olmo3','layer_types':['full_attention','x']} | layer_types: 'x'",
        "{'model_type':'olmo3','rope_parameters':{'rope_theta':7}} | rope_parameters: expected an"
            + " object for full_attention",
        "{'model_type':'deepseek_v2','topk_method':'noaux_tc'} | topk_method: 'noaux_tc'",
        "{'model_type':'deepseek_v3','first_k_dense_replace':0,'scoring_func':'softmax'} |"
            + " scoring_func: 'softmax'",
        "{'model_type':'deepseek_v3','first_k_dense_replace':0,'n_group':7} | 4 of 7 groups of 256"
            + " experts",
        "{'model_type':'mixtral','num_key_value_heads':2,'num_experts_per_tok':9} | 9 of 8 experts",
        "{'model_type':'gpt_oss','num_key_value_heads':2,'swiglu_alpha':1} | swiglu_alpha",
        "{'model_type':'glm4','mlp_bias':true} | mlp_bias",
        "{'rope_interleaved':true} | rope_interleaved",
        "{'use_sliding_window':true} | use_sliding_window",
        "{'layer_types':['sliding_attention','full_attention']} | layer_types: 'sliding_attention'",
        "{'rope_scaling':{'type':'linear'}} | rope_scaling: factor NaN",
        "{'rope_scaling':{'type':'other','factor':2}} | rope_scaling: type 'other'",
        "{'rope_scaling':{'rope_type':'longrope','long_factor':[]}} | short_factor has 0 values",
        "{'rope_scaling':{'rope_type':'llama3','factor':8}} | rope_scaling: factor 8.0",
        "{'model_type':'phi3','attention_bias':true} | attention_bias: true is not supported",
        "{'hidden_act':'relu2'} | hidden_act: relu2 is not supported",
        "{'final_logit_softcapping':30.0} | final_logit_softcapping",
        "{'attn_logit_softcapping':50.0} | attn_logit_softcapping",
        "{'num_local_experts':8} | num_local_experts",
        "{'kv_lora_rank':512} | kv_lora_rank",
        "{'partial_rotary_factor':0.5} | partial_rotary_factor: 0.5 is not supported",
        "{'rope_parameters':{'partial_rotary_factor':0.5}} | partial_rotary_factor: 0.5",
        "{'model_type':'phi3','partial_rotary_factor':0.1} | rotary embedding needs pairs",
        "{'model_type':'phi3','partial_rotary_factor':2} | rotary embedding needs pairs",
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
