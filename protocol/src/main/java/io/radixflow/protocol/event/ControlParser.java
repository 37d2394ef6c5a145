package io.radixflow.protocol.event;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonLimits;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.record.control.ControlEvent;
import io.radixflow.protocol.record.control.ControlKind;
import io.radixflow.protocol.record.control.LimitChange;
import java.io.IOException;
import java.util.List;
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
      return new ControlEvent(kind, null, TierCommandReader.read(fields).toString());
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

  private static void checkValue(ControlKind kind, String tenant, String value) {
    if (kind == ControlKind.DRAIN && value != null && !SWITCH.contains(value)) {
      throw JsonObject.notOneOf("value", value, SWITCH);
    }
    if (kind == ControlKind.LIMITS) {
      LimitChange.parse(tenant, value);
    }
  }
}
