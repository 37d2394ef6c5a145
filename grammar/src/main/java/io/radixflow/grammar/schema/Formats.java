package io.radixflow.grammar.schema;

import java.util.Map;

/** The string formats that are asserted, as regular expressions of their values. */
final class Formats {
  private static final String DAY_OF_MONTH =
      "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|[12][0-9]))";
  private static final String DATE = "[0-9]{4}-" + DAY_OF_MONTH;
  private static final String HOUR_MINUTE = "([01][0-9]|2[0-3]):[0-5][0-9]";
  private static final String TIME =
      HOUR_MINUTE + ":([0-5][0-9]|60)(\\.[0-9]+)?([zZ]|[+-]" + HOUR_MINUTE + ")";
  private static final String OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
  private static final String IPV4 = "(" + OCTET + "\\.){3}" + OCTET;
  private static final String LABEL = "[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?";
  private static final String HOSTNAME = LABEL + "(\\." + LABEL + ")*";
  private static final String DURATION_TIME =
      "T([0-9]+H([0-9]+M([0-9]+S)?)?|[0-9]+M([0-9]+S)?|[0-9]+S)";
  private static final String DURATION =
      "P(([0-9]+D|[0-9]+M([0-9]+D)?|[0-9]+Y([0-9]+M([0-9]+D)?)?)("
          + DURATION_TIME
          + ")?|"
          + DURATION_TIME
          + "|[0-9]+W)";
  private static final String UUID =
      "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}";
  private static final String ATOM = "[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+";
  private static final String EMAIL =
      ATOM + "(\\." + ATOM + ")*@(" + HOSTNAME + "|\\[" + IPV4 + "\\])";

  private static final Map<String, String> REGEXES =
      Map.of(
          "date", DATE,
          "time", TIME,
          "date-time", DATE + "[tT]" + TIME,
          "duration", DURATION,
          "email", EMAIL,
          "hostname", HOSTNAME,
          "ipv4", IPV4,
          "ipv6", ipv6(),
          "uuid", UUID,
          "uri", uri());

  private Formats() {}

  /** The expression of a format, or null if the format is not known. */
  static String regex(String format) {
    return REGEXES.get(format);
  }

  /**
   * Returns groups of hexadecimal digits; one run of zero groups may be left out (RFC 4291, without
   * IPv4).
   */
  private static String ipv6() {
    String group = "[0-9a-fA-F]{1,4}";
    StringBuilder forms =
        new StringBuilder("((" + group + ":){7}" + group + "|(" + group + ":){1,7}:|::");
    for (int after = 1; after <= 6; after++) {
      forms
          .append("|(")
          .append(group)
          .append(":){1,")
          .append(7 - after)
          .append("}(:")
          .append(group)
          .append("){")
          .append(after)
          .append('}');
    }
    return forms.append("|:(:").append(group).append("){1,7})").toString();
  }

  /** Returns absolute URIs of RFC 3986. */
  private static String uri() {
    String escaped = "%[0-9a-fA-F]{2}";
    String unreserved = "a-zA-Z0-9._~\\-";
    String delims = "!$&'()*+,;=";
    String pchar = "([" + unreserved + delims + ":@]|" + escaped + ")";
    String host =
        "(\\[("
            + ipv6()
            + "|v[0-9a-fA-F]+\\.["
            + unreserved
            + delims
            + ":]+)\\]|(["
            + unreserved
            + delims
            + "]|"
            + escaped
            + ")*)";
    String authority =
        "(([" + unreserved + delims + ":]|" + escaped + ")*@)?" + host + "(:[0-9]*)?";
    String path =
        "(//" + authority + "(/" + pchar + "*)*|/(" + pchar + "+(/" + pchar + "*)*)?|" + pchar
            + "+(/" + pchar + "*)*)?";
    String query = "([" + unreserved + delims + ":@/?]|" + escaped + ")*";
    return "[a-zA-Z][a-zA-Z0-9+.\\-]*:" + path + "(\\?" + query + ")?(#" + query + ")?";
  }
}
