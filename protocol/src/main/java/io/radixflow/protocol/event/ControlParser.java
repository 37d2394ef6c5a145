package io.radixflow.protocol.event;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonLimits;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import io.radixflow.protocol.record.control.ControlEvent;
import io.radixflow.protocol.record.control.ControlKind;
import io.radixflow.protocol.record.control.LimitChange;
import io.radixflow.protocol.record.control.TierCommand;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Reads records of the control topic, in the form of {@code schema/control-event.schema.json}. */
public final class ControlParser {

  private static final JsonMapper MAPPER = JsonLimits.CONTROL.mapper();
  private static final int MAX_BYTES = 16 * 1024;
  private static final List<String> FIELDS =
      List.of("type", "tenant", "value", "action", "tier", "size");
  private static final List<String> TIER_FIELDS = List.of("type", "action", "tier", "size");
  private static final List<String> TYPES =
      Stream.of(ControlKind.values()).map(ControlKind::toString).toList();
  private static final List<String> UNITS = List.of("b", "kb", "mb", "gb", "tb");
  private static final Pattern SIZE =
      Pattern.compile("([1-9][0-9]{0,17})|([1-9][0-9]{0,5})(kb|mb|gb|tb)");
  private static final List<String> SWITCH = List.of("on", "off");

  /**
   * A control event, or the reason why the record is not valid.
   *
   * @param event the event; null if the record is not valid
   * @param reason the reason; null if the record is valid
   */
  public record Parsed(ControlEvent event, String reason) {}

  /** Reads one record. Never throws an exception. */
  public Parsed parse(byte[] value) {
    if (value == null || value.length == 0 || value.length > MAX_BYTES) {
      return new Parsed(null, "a control event must have 1 to " + MAX_BYTES + " bytes");
    }
    try {
      return new Parsed(event(JsonObject.of(MAPPER.readTree(value), "the control event")), null);
    } catch (IllegalArgumentException e) {
      return new Parsed(null, e.getMessage());
    } catch (IOException e) {
      String foreign = ForeignFormat.of(value);
      return new Parsed(
          null,
          "the control event cannot be read as JSON" + (foreign == null ? "" : ": " + foreign));
    }
  }

  private static ControlEvent event(JsonObject fields) {
    fields.allow(FIELDS);
    String type = fields.id("type");
    fields.require("type");
    if (!TYPES.contains(type)) {
      throw JsonObject.notOneOf("type", type, TYPES);
    }
    ControlKind kind = ControlKind.values()[TYPES.indexOf(type)];
    boolean ofTiers = kind == ControlKind.TIERS;
    for (String name : FIELDS) {
      if (fields.has(name) && ofTiers != TIER_FIELDS.contains(name) && !name.equals("type")) {
        throw new InvalidInputException(
            name
                + (ofTiers
                    ? " is not a field of tiers events"
                    : " is a field of tiers events only"));
      }
    }
    if (ofTiers) {
      return new ControlEvent(kind, null, tierCommand(fields).toString());
    }
    String tenant = fields.name("tenant");
    String value = fields.text("value");
    if (kind == ControlKind.ERASE_TENANT && tenant == null) {
      throw new InvalidInputException(
          "tenant is missing: erase_tenant needs the tenant whose sessions it erases");
    }
    checkValue(kind, tenant, value);
    return new ControlEvent(kind, tenant, value);
  }

  private static TierCommand tierCommand(JsonObject fields) {
    fields.require("action", "tier");
    TierCommand.Action action = fields.choice("action", TierCommand.Action.class);
    TierCommand.Tier tier = fields.choice("tier", TierCommand.Tier.class);
    String size = fields.text("size");
    if (size != null && !action.takesSize()) {
      throw new InvalidInputException(
          "size is not a field of " + action.name().toLowerCase(Locale.ROOT));
    }
    return new TierCommand(action, tier, size == null ? TierCommand.CONFIGURED : bytes(size));
  }

  private static long bytes(String size) {
    Matcher parts = SIZE.matcher(size);
    if (!parts.matches()) {
      throw new InvalidInputException(
          "size is " + Texts.quote(size) + "; it must be a size such as 512mb or 20gb");
    }
    return parts.group(1) != null
        ? Long.parseLong(parts.group(1))
        : Long.parseLong(parts.group(2)) << (10 * UNITS.indexOf(parts.group(3)));
  }

  private static void checkValue(ControlKind kind, String tenant, String value) {
    if (kind == ControlKind.DRAIN && value != null && !SWITCH.contains(value)) {
      throw JsonObject.notOneOf("value", value, SWITCH);
    }
    if (kind == ControlKind.LIMITS) {
      LimitChange.parse(tenant, value);
    }
  }
}
