package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.Attention;
import java.util.Arrays;
import java.util.Random;

/**
 * Conversations with random queries, keys and values in bf16, and their exact and plain attention.
 * Where the shape has 8-bit floats, keys and values are such that these have them exactly.
 *
 * <p>A token of conversation {@code c} at position {@code p} has number {@code start[c] + p}. Keys
 * and values are by token, kvHead and element, queries by token, head and element.
 */
final class AttentionCase {

  final AttentionShape shape;
  final Attention.Scores scores;
  final int window;
  final float[] sinks;
  final int[] length;
  final int[] start;
  final short[] queries;
  final short[] keys;
  final short[] values;

  AttentionCase(AttentionShape shape, Random random, int... length) {
    this(shape, Attention.Scores.of(shape.headDim()), 0, random, length);
  }

  /** The same with scores and a window of their own. */
  AttentionCase(
      AttentionShape shape, Attention.Scores scores, int window, Random random, int... length) {
    this.shape = shape;
    this.scores = scores;
    this.window = window;
    sinks = scores.sinks() ? new float[shape.heads()] : null;
    for (int head = 0; scores.sinks() && head < sinks.length; head++) {
      sinks[head] = 4 * random.nextFloat() - 1;
    }
    this.length = length;
    start = new int[length.length];
    for (int i = 1; i < length.length; i++) {
      start[i] = start[i - 1] + length[i - 1];
    }
    int tokens = Arrays.stream(length).sum();
    queries = Bf16.random(tokens * shape.heads() * shape.headDim(), 1, random);
    keys = Bf16.random(tokens * shape.kvHeads() * shape.headDim(), 1, random);
    values = Bf16.random(tokens * shape.kvHeads() * shape.headDim(), 1, random);
    if (shape.type() == KvSpec.Type.FP8) {
      Float8Pages.round(keys, shape.headDim());
      Float8Pages.round(values, shape.headDim());
    }
  }

  /**
   * Gives each token of a conversation the key of another 37 further on and the opposite value, so
   * that after every 74 tokens the exact result is zero, and a computed one what rounding left.
   */
  void cancel() {
    int width = shape.kvHeads() * shape.headDim();
    for (int c = 0; c < length.length; c++) {
      for (int p = 0; p < length[c]; p++) {
        if (p % 74 >= 37) {
          int to = (start[c] + p) * width;
          int from = to - 37 * width;
          for (int i = 0; i < width; i++) {
            keys[to + i] = keys[from + i];
            values[to + i] = (short) (values[from + i] ^ 0x8000);
          }
        }
      }
    }
  }

  /** The attention of positions {@code first} on of a conversation, [row][head][element]. */
  Closeness expected(int conversation, int first, int rows) {
    int width = shape.heads() * shape.headDim();
    double[] exact = new double[rows * width];
    float[] plain = new float[rows * width];
    for (int row = 0; row < rows; row++) {
      for (int head = 0; head < shape.heads(); head++) {
        int to = row * width + head * shape.headDim();
        attend(conversation, first + row, head, exact, plain, to);
      }
    }
    return new Closeness(exact, plain);
  }

  private void attend(int conversation, int at, int head, double[] exact, float[] plain, int to) {
    int width = shape.headDim();
    int query = ((start[conversation] + at) * shape.heads() + head) * width;
    int first = window == 0 ? 0 : Math.max(0, at - window + 1);
    double[] products = new double[at + 1];
    for (int t = first; t <= at; t++) {
      int key = place(conversation, t, head);
      for (int i = 0; i < width; i++) {
        products[t] += (double) Bf16.toFloat(queries[query + i]) * Bf16.toFloat(keys[key + i]);
      }
      products[t] *= scores.scale();
      if (scores.softCap() > 0) {
        products[t] = scores.softCap() * Math.tanh(products[t] / scores.softCap());
      }
    }
    double top = Arrays.stream(products, first, at + 1).max().getAsDouble();
    double sum = sinks == null ? 0 : Math.exp(sinks[head] - top);
    float plainSum = (float) sum;
    float[] plainResult = new float[width];
    for (int t = first; t <= at; t++) {
      double weight = Math.exp(products[t] - top);
      float rounded = Bf16.toFloat(Bf16.of(weight));
      sum += weight;
      plainSum += (float) weight;
      int value = place(conversation, t, head);
      for (int i = 0; i < width; i++) {
        float element = Bf16.toFloat(values[value + i]);
        exact[to + i] += weight * element;
        plainResult[i] += rounded * element;
      }
    }
    for (int i = 0; i < width; i++) {
      exact[to + i] /= sum;
      plain[to + i] = Bf16.toFloat(Bf16.of(plainResult[i] / plainSum));
    }
  }

  /** The offset of a token's key and value as seen by a query head. */
  private int place(int conversation, int position, int head) {
    int token = start[conversation] + position;
    return (token * shape.kvHeads() + head / shape.group()) * shape.headDim();
  }
}
