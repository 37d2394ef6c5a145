package io.radixflow.cli.command.topic;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.cli.state.SavedMessage;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class StateTableTest {

  @Test
  void aReplyIsShownWithItsReasoningAndCalls() {
    StringWriter text = new StringWriter();
    PrintWriter out = new PrintWriter(text);
    ToolCall call = new ToolCall("c1", "warmth", "{\"at\": \"Ulm\"}");
    Message reply = new Message("assistant", null, null, List.of(call), null, "I\nlook");
    StateTable.print(out, new SavedMessage("main", "t1", reply, "tool_calls"));
    out.flush();
    assertThat(text.toString().lines())
        .containsExactly(
            "assistant [main t1] (tool_calls)",
            "  reasoning: I",
            "  reasoning: look",
            "  calls warmth: {\"at\": \"Ulm\"}");
  }
}
