package io.radixflow.jobs.event;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.jobs.config.NearestName;
import io.radixflow.operators.record.TierCommand;
import io.radixflow.operators.record.TierCommand.Action;
import io.radixflow.operators.record.TierCommand.Tier;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.flink.configuration.MemorySize;

/** Reads what a control event does to a tier. */
final class TierCommandReader {
  private static final String SIZE = "[1-9][0-9]{0,17}|[1-9][0-9]{0,5}(kb|mb|gb|tb)";

  private TierCommandReader() {}

  /**
   * @throws InvalidEventException if a field is missing, of another type or no known name
   */
  static TierCommand read(Fields fields) throws InvalidEventException {
    Action action = choice(fields, "action", Action.values());
    Tier tier = choice(fields, "tier", Tier.values());
    JsonNode size = fields.get("size");
    if (size == null) {
      return new TierCommand(action, tier, TierCommand.CONFIGURED);
    }
    if (!action.takesSize()) {
      throw new InvalidEventException("size means nothing to " + name(action));
    }
    return new TierCommand(action, tier, bytes(Fields.text("size", size)));
  }

  private static <E extends Enum<E>> E choice(Fields fields, String field, E[] values)
      throws InvalidEventException {
    List<String> names = Arrays.stream(values).map(TierCommandReader::name).toList();
    String given = fields.id(field);
    int index = given == null ? -1 : names.indexOf(given);
    if (index < 0) {
      String hint = given == null ? "" : NearestName.hint(given, names);
      throw new InvalidEventException(field + " must be one of " + names + "." + hint);
    }
    return values[index];
  }

  private static String name(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private static long bytes(String size) throws InvalidEventException {
    if (!size.matches(SIZE)) {
      throw new InvalidEventException("size must be a size such as 512mb or 20gb");
    }
    return MemorySize.parseBytes(size);
  }
}
