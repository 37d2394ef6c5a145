package io.radixflow.models.file;

import io.radixflow.models.Attention;
import io.radixflow.models.Attention.Latent;
import io.radixflow.models.FeedForward;
import io.radixflow.models.FeedForward.Dense;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.FeedForward.Router;
import io.radixflow.models.Layer;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelFormatException;
import java.util.List;

/**
 * The checks that every configuration must pass, whatever file it comes from.
 *
 * @param file named in errors
 */
record SupportedShapes(String file) {
  private static final int MAX_SIZE = 1 << 28;
  private static final int MAX_LAYERS = 4096;
  private static final int MAX_WIDTH = 1 << 24;
  private static final int MAX_EXPERTS = 4096;

  /** Experts and heads that have their own tensors, in all layers. */
  private static final int MAX_PARTS = 1 << 16;

  void architecture(String found, List<String> supported) {
    if (!supported.contains(found)) {
      throw error(
          String.format(
              "architecture '%s' is not supported; supported: %s",
              found, String.join(", ", supported)));
    }
  }

  /** Returns a size that is positive and not absurdly large. */
  int size(String field, long value) {
    if (value < 1 || value > MAX_SIZE) {
      throw error(field + " is " + value + "; 1 to " + MAX_SIZE + " are possible");
    }
    return (int) value;
  }

  /** Returns a number of layers that is not absurdly large. */
  int layers(int layers) {
    if (layers > MAX_LAYERS) {
      throw error(layers + " layers; at most " + MAX_LAYERS + " are possible");
    }
    return layers;
  }

  ModelFormatException unsupported(String field, String what) {
    return error(field + ": " + what + " is not supported");
  }

  ModelFormatException error(String what) {
    return new ModelFormatException(file + ": " + what);
  }

  /** Checks that sizes match each other, and that their products fit into an int. */
  ModelConfig consistent(ModelConfig config) {
    layers(config.layers());
    if (config.hiddenSize() > MAX_WIDTH) {
      throw tooWide();
    }
    float epsilon = config.normEpsilon();
    if (!(epsilon >= 0 && epsilon < 1)) {
      throw error("norm epsilon is " + epsilon + "; expected 0 to 1");
    }
    long parts = 0;
    for (Layer layer : config.blocks()) {
      check(layer.attention());
      check(layer.feedForward());
      parts += layer.feedForward() instanceof Experts experts ? experts.count() : 1;
      parts += layer.attention() instanceof Latent latent ? latent.heads() : 1;
    }
    if (parts > MAX_PARTS) {
      throw error(
          parts + " experts and heads in all layers; at most " + MAX_PARTS + " are possible");
    }
    return config;
  }

  private void check(Attention attention) {
    int heads = attention.heads();
    long width;
    if (attention instanceof Latent latent) {
      width =
          (long) heads
              * Math.max(latent.keyWidth(), Math.max(latent.queryDim(), latent.valueDim()));
      pairs(latent.rotatedDim());
    } else {
      if (heads % attention.kvHeads() != 0) {
        throw error(
            heads + " heads do not share " + attention.kvHeads() + " key/value heads evenly");
      }
      width = (long) heads * attention.keyWidth();
      pairs(attention.keyWidth());
    }
    if (width > MAX_WIDTH) {
      throw tooWide();
    }
    if (!(attention.scale() > 0 && attention.scale() < Float.POSITIVE_INFINITY)) {
      throw error(
          "the scale of attention is " + attention.scale() + "; expected a positive number");
    }
    double base = attention.rope() == null ? 1 : attention.rope().base();
    if (!(base > 0 && base < Double.POSITIVE_INFINITY)) {
      throw error("rope base is " + base + "; expected a positive number");
    }
  }

  private void pairs(int width) {
    if (width < 2 || width % 2 != 0) {
      throw error("head dimension " + width + "; rotary embedding needs pairs");
    }
  }

  private void check(FeedForward feedForward) {
    if (feedForward instanceof Dense dense) {
      if (dense.width() > MAX_WIDTH) {
        throw tooWide();
      }
      return;
    }
    Experts experts = (Experts) feedForward;
    Router router = experts.router();
    if (experts.count() > MAX_EXPERTS || experts.chosen() > experts.count()) {
      throw error(
          String.format(
              "%s of %s experts per token; at most %s of %s are possible",
              experts.chosen(), experts.count(), experts.count(), MAX_EXPERTS));
    }
    boolean even = experts.count() % router.groups() == 0;
    if (!even || router.chosenGroups() > router.groups()) {
      throw error(
          String.format(
              "%s of %s groups of %s experts",
              router.chosenGroups(), router.groups(), experts.count()));
    }
    if (experts.count() / router.groups() * router.chosenGroups() < experts.chosen()) {
      throw error(experts.chosen() + " experts per token are more than the chosen groups have");
    }
    if (router.chosenGroups() < router.groups()
        && experts.count() / router.groups() < router.groupBest()) {
      throw error("groups of one expert do not have two best experts");
    }
    if (experts.expert().width() > MAX_WIDTH || experts.sharedWidth() > MAX_WIDTH) {
      throw tooWide();
    }
  }

  private ModelFormatException tooWide() {
    return error("a layer is wider than " + MAX_WIDTH);
  }
}
