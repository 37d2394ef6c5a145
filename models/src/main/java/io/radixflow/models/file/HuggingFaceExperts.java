package io.radixflow.models.file;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.models.FeedForward.Dense;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.FeedForward.Gating;
import io.radixflow.models.FeedForward.Router;
import io.radixflow.models.FeedForward.Scoring;

/** The mixture of experts that a {@code config.json} describes. */
record HuggingFaceExperts(ConfigFields config, HuggingFaceFamily family, Gating gating) {
  boolean in(int layer) {
    return switch (family) {
      case DEEPSEEK_V2 -> layer >= first(0);
      case DEEPSEEK_V3 -> layer >= first(3);
      case GLM4_MOE -> layer >= first(1);
      case QWEN2_MOE, QWEN3_MOE -> {
        for (JsonNode dense : config.get("mlp_only_layers")) {
          if (dense.asInt(-1) == layer) {
            yield false;
          }
        }
        yield (layer + 1) % config.size("decoder_sparse_step", 1) == 0;
      }
      default -> true;
    };
  }

  private int first(int otherwise) {
    return config.sizeOrNone("first_k_dense_replace", otherwise);
  }

  /** Returns the experts of a layer that has experts. */
  Experts read() {
    return switch (family) {
      case MIXTRAL ->
          experts(
              count("num_local_experts", "num_experts", 8),
              2,
              expert(config.size("intermediate_size")),
              Router.softmax(true));
      case QWEN2_MOE -> {
        Experts plain = qwen(60, 4, 1408);
        int shared = config.sizeOrNone("shared_expert_intermediate_size", 5632);
        yield new Experts(
            plain.count(), plain.chosen(), plain.expert(), plain.router(), shared, shared > 0);
      }
      case QWEN3_MOE -> qwen(128, 8, 768);
      case GPT_OSS -> {
        float limit = config.factor("swiglu_limit", 7);
        if (config.real("swiglu_alpha", 1.702) != 1.702) {
          throw config.unsupported("swiglu_alpha", config.get("swiglu_alpha").asText());
        }
        int width = config.size("intermediate_size");
        boolean blocks = width % 32 == 0 && config.size("hidden_size") % 32 == 0;
        if (config.has("quantization_config") && !blocks) {
          throw config.error("rows of experts are not whole blocks of MXFP4");
        }
        yield experts(
            count("num_local_experts", "num_experts", 128),
            4,
            new Dense(width, Gating.CLAMPED_SILU, limit, true),
            new Router(Scoring.SOFTMAX, true, false, 1, 1, 1, true, 1));
      }
      default -> deepseek();
    };
  }

  private int count(String field, String other, int otherwise) {
    return config.size(field, config.size(other, otherwise));
  }

  private Experts qwen(int count, int chosen, int width) {
    return experts(
        count("num_experts", "num_local_experts", count),
        chosen,
        expert(config.size("moe_intermediate_size", width)),
        Router.softmax(config.flag("norm_topk_prob", false)));
  }

  private Dense expert(int width) {
    return new Dense(width, gating, 0, false);
  }

  private Experts experts(int count, int chosen, Dense expert, Router router) {
    return new Experts(count, config.size("num_experts_per_tok", chosen), expert, router, 0, false);
  }

  /**
   * deepseek_v2, deepseek_v3 and glm4_moe: groups of experts, and shared experts without a gate.
   */
  private Experts deepseek() {
    boolean second = family == HuggingFaceFamily.DEEPSEEK_V2;
    boolean glm = family == HuggingFaceFamily.GLM4_MOE;
    int width = config.size("moe_intermediate_size", second ? 1407 : glm ? 1408 : 2048);
    int count = count("n_routed_experts", "num_local_experts", second ? 64 : glm ? 128 : 256);
    Router router = second ? softmaxRouter() : sigmoidRouter(glm);
    int shared = config.sizeOrNone("n_shared_experts", second ? 2 : 1);
    return new Experts(
        count,
        config.size("num_experts_per_tok", 8),
        expert(width),
        router,
        shared == 0 ? 0 : config.checkedProduct("n_shared_experts", shared, width),
        false);
  }

  private Router softmaxRouter() {
    refuseOther("scoring_func", "softmax");
    String method = config.text("topk_method", "greedy");
    boolean grouped = method.equals("group_limited_greedy");
    if (!grouped && !method.equals("greedy")) {
      throw config.unsupported("topk_method", "'" + method + "'");
    }
    return new Router(
        Scoring.SOFTMAX,
        false,
        false,
        grouped ? config.size("n_group") : 1,
        grouped ? config.size("topk_group") : 1,
        1,
        false,
        config.factor("routed_scaling_factor", 1));
  }

  private Router sigmoidRouter(boolean glm) {
    refuseOther("scoring_func", "sigmoid");
    refuseOther("topk_method", "noaux_tc");
    return new Router(
        Scoring.SIGMOID,
        false,
        true,
        config.size("n_group", glm ? 1 : 8),
        config.size("topk_group", glm ? 1 : 4),
        2,
        config.flag("norm_topk_prob", true),
        config.factor("routed_scaling_factor", glm ? 1 : 2.5));
  }

  private void refuseOther(String field, String only) {
    String value = config.text(field, only);
    if (!value.equals(only)) {
      throw config.unsupported(field, "'" + value + "'");
    }
  }
}
