package io.radixflow.kernels.device;

/**
 * The device that a model runs on, as users name it: {@code auto}, {@code cpu}, {@code sim}, {@code
 * cuda} or {@code cuda:N}.
 *
 * @param kind the kind of device
 * @param index number of the GPU; -1 if none is named
 */
public record DeviceName(Kind kind, int index) {

  /** Kinds of devices. */
  public enum Kind {
    /** The best device of the machine. */
    AUTO,
    CPU,
    SIM,
    CUDA
  }

  /** The names that {@link #parse} accepts, for messages. */
  public static final String ALLOWED = "auto, cpu, sim, cuda or cuda:N";

  private static final int MAX_INDEX = 1023;
  private static final String INDEXED = "cuda:";

  /**
   * Parses a device name.
   *
   * @throws IllegalArgumentException if the text is not a device name
   */
  public static DeviceName parse(String text) {
    return switch (text) {
      case "auto" -> new DeviceName(Kind.AUTO, -1);
      case "cpu" -> new DeviceName(Kind.CPU, -1);
      case "sim" -> new DeviceName(Kind.SIM, -1);
      case "cuda" -> new DeviceName(Kind.CUDA, -1);
      default -> new DeviceName(Kind.CUDA, index(text));
    };
  }

  private static int index(String text) {
    if (text.startsWith(INDEXED) && text.substring(INDEXED.length()).matches("0|[1-9][0-9]{0,3}")) {
      int index = Integer.parseInt(text.substring(INDEXED.length()));
      if (index <= MAX_INDEX) {
        return index;
      }
    }
    throw new IllegalArgumentException("device '" + text + "' is not one of " + ALLOWED);
  }

  /** Returns whether {@link #parse} accepts a name. */
  public static boolean isValid(String text) {
    try {
      parse(text);
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
