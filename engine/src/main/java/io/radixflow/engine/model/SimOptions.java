package io.radixflow.engine.model;

import io.radixflow.text.SimText;
import java.util.function.Consumer;

/**
 * How the simulated model behaves. Immutable; change one setting with a {@code with} method.
 *
 * @param contextLength positions of the model
 * @param endOfTurn probability, token by token, that the model ends its turn; in [0, 1]
 * @param stepNanos simulated time of one step
 * @param rowNanos simulated time of one row, added to the step's
 * @param pipelineDepth tickets that the engine should keep in flight, 1 or 2
 * @param poison whether pages that the engine gives back are overwritten, so that a later read of
 *     them shows
 * @param clock clock of the simulated time
 * @param fault runs before each step and may fail it
 * @param calls whether the model calls tools when a user's message asks for it, see {@link
 *     SimCalls}
 * @param window tokens that a query sees in the layer with an attention window; 0 without one
 */
public record SimOptions(
    int contextLength,
    double endOfTurn,
    long stepNanos,
    long rowNanos,
    int pipelineDepth,
    boolean poison,
    SimClock clock,
    SimFault fault,
    boolean calls,
    int window) {

  /** 4,096 positions, replies of 48 tokens on average, no step time, one step ahead. */
  public static final SimOptions DEFAULT =
      new SimOptions(
          SimText.CONTEXT_LENGTH,
          1.0 / 48,
          0,
          0,
          2,
          false,
          SimClock.SYSTEM,
          SimFault.NONE,
          false,
          0);

  private static final String KEYS =
      "context (tokens), reply (average tokens), step (milliseconds), deadly (token that ends the"
          + " process), calls (1: calls tools when a user writes: call NAME ARGUMENTS), window"
          + " (tokens that a layer with an attention window sees)";

  public SimOptions {
    require(contextLength >= 2, "context length " + contextLength + " is below 2");
    require(endOfTurn >= 0 && endOfTurn <= 1, "end of turn " + endOfTurn + " is not in [0, 1]");
    require(window >= 0, "window " + window + " is negative");
    require(stepNanos >= 0 && rowNanos >= 0, "step and row time must not be negative");
    require(
        pipelineDepth == 1 || pipelineDepth == 2,
        "pipeline depth " + pipelineDepth + " is neither 1 nor 2");
  }

  /**
   * Reads options in the form that follows the model's name: empty, or {@code
   * :KEY=VALUE,KEY=VALUE…}, for example {@code :step=20,reply=400}. Keys are {@code context},
   * positions of the model; {@code reply}, tokens of a reply on average; {@code step}, milliseconds
   * of a step; {@code calls}, 1 for a model that calls tools as described in {@link SimCalls};
   * {@code window}, tokens that a query sees in a layer with an attention window (default: no such
   * layer); {@code deadly}, a token that ends the process when it is read (default: none), for
   * tests of turns that end processes.
   *
   * @throws IllegalArgumentException if a key is unknown or a value is out of range
   */
  public static SimOptions parse(String text) {
    SimOptions options = DEFAULT;
    if (text.isEmpty()) {
      return options;
    }
    for (String assignment : text.substring(1).split(",", -1)) {
      int equals = assignment.indexOf('=');
      String key = equals < 0 ? assignment : assignment.substring(0, equals);
      int value = number(assignment, equals);
      options =
          switch (key) {
            case "context" -> options.withContextLength(value);
            case "reply" -> options.withEndOfTurn(1.0 / value);
            case "step" -> options.withTime(value * 1_000_000L, 0);
            case "calls" -> options.withCalls(value > 0);
            case "window" -> options.withWindow(value);
            case "deadly" -> options.withFault(SimFault.haltOnToken(value));
            default ->
                throw new IllegalArgumentException(
                    "the simulated model has no option '" + key + "'; it has " + KEYS);
          };
    }
    return options;
  }

  private static int number(String assignment, int equals) {
    String value = assignment.substring(equals + 1);
    if (equals < 0 || !value.matches("\\d{1,7}") || Integer.parseInt(value) < 1) {
      throw new IllegalArgumentException(
          "the simulated model's option '" + assignment + "' must be KEY=NUMBER, at least 1");
    }
    return Integer.parseInt(value);
  }

  private static void require(boolean valid, String message) {
    if (!valid) {
      throw new IllegalArgumentException(message);
    }
  }

  /** Returns a copy with another context length. */
  public SimOptions withContextLength(int tokens) {
    return with(copy -> copy.contextLength = tokens);
  }

  /** Returns a copy with another probability to end the turn. */
  public SimOptions withEndOfTurn(double probability) {
    return with(copy -> copy.endOfTurn = probability);
  }

  /** Returns a copy with simulated time. */
  public SimOptions withTime(long nanosPerStep, long nanosPerRow) {
    return with(
        copy -> {
          copy.stepNanos = nanosPerStep;
          copy.rowNanos = nanosPerRow;
        });
  }

  /** Returns a copy with another pipeline depth. */
  public SimOptions withPipelineDepth(int depth) {
    return with(copy -> copy.pipelineDepth = depth);
  }

  /** Returns a copy with poisoning of freed pages switched on or off. */
  public SimOptions withPoison(boolean on) {
    return with(copy -> copy.poison = on);
  }

  /** Returns a copy with another clock. */
  public SimOptions withClock(SimClock other) {
    return with(copy -> copy.clock = other);
  }

  /** Returns a copy with injected faults. */
  public SimOptions withFault(SimFault other) {
    return with(copy -> copy.fault = other);
  }

  /** Returns a copy with tool calls, see {@link SimCalls}, switched on or off. */
  public SimOptions withCalls(boolean on) {
    return with(copy -> copy.calls = on);
  }

  /**
   * Returns a copy whose model has a layer in which a query sees {@code tokens} tokens; 0 for no
   * such layer.
   */
  public SimOptions withWindow(int tokens) {
    return with(copy -> copy.window = tokens);
  }

  private SimOptions with(Consumer<Copy> change) {
    Copy copy = new Copy(this);
    change.accept(copy);
    return copy.options();
  }

  /** The settings of a copy that is being made. */
  private static final class Copy {
    private int contextLength;
    private double endOfTurn;
    private long stepNanos;
    private long rowNanos;
    private int pipelineDepth;
    private boolean poison;
    private SimClock clock;
    private SimFault fault;
    private boolean calls;
    private int window;

    private Copy(SimOptions from) {
      contextLength = from.contextLength;
      endOfTurn = from.endOfTurn;
      stepNanos = from.stepNanos;
      rowNanos = from.rowNanos;
      pipelineDepth = from.pipelineDepth;
      poison = from.poison;
      clock = from.clock;
      fault = from.fault;
      calls = from.calls;
      window = from.window;
    }

    private SimOptions options() {
      return new SimOptions(
          contextLength,
          endOfTurn,
          stepNanos,
          rowNanos,
          pipelineDepth,
          poison,
          clock,
          fault,
          calls,
          window);
    }
  }
}
