package io.radixflow.text.reply;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Names of tools with the characters that MCP servers have in them. */
class ToolNamesTest {
  private static final List<String> NAMES =
      List.of("mcp__files__read", "files.read", "a/b", "files:read", "a-b", "a.b:0", "a:1/c.d-e_f");

  @ParameterizedTest
  @EnumSource(ToolFormat.class)
  void aCallOfEachNameIsReadInEachFormat(ToolFormat format) {
    for (String name : NAMES) {
      List<Tool> tools = List.of(Replies.tool(name, Map.of("lines", Map.of("type", "array"))));
      String text = Calls.write(format, name, "{\"lines\": [1]}");
      assertThat(Replies.parse(new ReplyFormat(format, null).parser(tools, ""), text))
          .as("%s: %s", format, text)
          .singleElement()
          .asString()
          .startsWith("0:" + name + "{")
          .contains("[1]");
    }
  }
}
