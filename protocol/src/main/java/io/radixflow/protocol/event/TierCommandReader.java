package io.radixflow.protocol.event;

import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.record.control.TierCommand;
import io.radixflow.protocol.record.control.TierCommand.Action;
import io.radixflow.protocol.record.control.TierCommand.Tier;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads a control event's command to a tier. */
final class TierCommandReader {
  private static final List<String> UNITS = List.of("b", "kb", "mb", "gb", "tb");
  private static final Pattern SIZE =
      Pattern.compile("([1-9][0-9]{0,17})|([1-9][0-9]{0,5})(kb|mb|gb|tb)");

  private TierCommandReader() {}

  /**
   * Reads action, tier and size.
   *
   * @throws InvalidInputException if a field is missing, has a wrong type or an unknown name
   */
  static TierCommand read(JsonObject event) {
    event.require("action", "tier");
    Action action = event.choice("action", Action.class);
    Tier tier = event.choice("tier", Tier.class);
    String size = event.text("size");
    if (size == null) {
      return new TierCommand(action, tier, TierCommand.CONFIGURED);
    }
    if (!action.takesSize()) {
      throw new InvalidInputException(
          "size is not a field of " + action.name().toLowerCase(Locale.ROOT));
    }
    return new TierCommand(action, tier, bytes(size));
  }

  private static long bytes(String size) {
    Matcher parts = SIZE.matcher(size);
    if (!parts.matches()) {
      throw new InvalidInputException(
          "size is " + Texts.quote(size) + "; it must be a size such as 512mb or 20gb");
    }
    if (parts.group(1) != null) {
      return Long.parseLong(parts.group(1));
    }
    return Long.parseLong(parts.group(2)) << (10 * UNITS.indexOf(parts.group(3)));
  }
}
