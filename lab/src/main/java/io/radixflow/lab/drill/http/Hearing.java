package io.radixflow.lab.drill.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A client's view of a reply so far, over all its connections. It checks that the numbers of a
 * response's events have no gaps and no repetitions, and that a repeated chat request gives the
 * same text.
 */
final class Hearing {
  private static final int BUSY = 429;
  private static final int UNAVAILABLE = 503;

  private final HttpTurn turn;
  private final List<Long> waits = new ArrayList<>();
  private final List<String> faults = new ArrayList<>();
  private HeardReply reply = new HeardReply();
  private String before = "";
  private String session;
  private String name;
  private String id;
  private String finish;
  private long number = -1;
  private int pieces;
  private long brokeAt;
  private boolean broken;
  private boolean ended;

  Hearing(HttpTurn turn) {
    this.turn = turn;
  }

  boolean ended() {
    return ended;
  }

  /** Returns whether the stream has broken at least once. */
  boolean hasBroken() {
    return broken || !waits.isEmpty();
  }

  /** Returns whether the reply is a response with a known id, so that it can be resumed. */
  boolean resumable() {
    return !turn.chat() && id != null;
  }

  String id() {
    return id;
  }

  /** Returns the number of the last event of a response, or -1. */
  long number() {
    return number;
  }

  int pieces() {
    return pieces;
  }

  /** Called when the connection broke or could not be made. */
  void broke() {
    if (!broken) {
      broken = true;
      brokeAt = System.nanoTime();
    }
    if (turn.chat()) {
      before = before.length() > reply.all().length() ? before : reply.all();
      reply = new HeardReply();
    }
  }

  /** Called with the turn of a response; both are null for a resumed stream. */
  void begin(String session, String turn) {
    if (session != null) {
      this.session = session;
      this.name = turn;
    }
  }

  /** Called with a response other than 200. */
  void refused(int status, String body) throws IOException {
    if (status == UNAVAILABLE || status == BUSY) {
      throw new IOException("status " + status);
    }
    faults.add("status " + status + ": " + body);
    ended = true;
  }

  /** Called with a reply that came as a whole. */
  void whole(JsonNode answer) {
    came();
    if (turn.chat()) {
      id = answer.path("id").asText();
      reply = HeardReply.ofMessage(answer.at("/choices/0/message"));
      finish = answer.at("/choices/0/finish_reason").asText();
    } else {
      reply = HeardReply.ofOutput(answer.path("output"));
      closed(answer);
    }
    ended = true;
  }

  /** Called with an event of a stream; returns false if the event reports that the stream broke. */
  boolean event(JsonNode event) {
    if (event.path("type").asText().equals("error") || event.has("error") && turn.chat()) {
      return false;
    }
    came();
    if (turn.chat()) {
      chunk(event);
    } else {
      response(event);
    }
    return true;
  }

  private void came() {
    if (broken) {
      waits.add((System.nanoTime() - brokeAt) / 1_000_000);
      broken = false;
    }
  }

  private void chunk(JsonNode chunk) {
    id = chunk.path("id").asText();
    for (JsonNode choice : chunk.path("choices")) {
      reply.chunk(choice.path("delta"));
      if (choice.hasNonNull("finish_reason")) {
        finish = choice.path("finish_reason").asText();
      }
    }
    pieces++;
    String all = reply.all();
    int common = Math.min(before.length(), all.length());
    if (!all.substring(0, common).equals(before.substring(0, common))) {
      fault("'" + all + "' came where '" + before + "' had come before");
    }
  }

  private void response(JsonNode event) {
    String type = event.path("type").asText();
    String delta = event.path("delta").asText("");
    boolean piece = type.endsWith(".delta");
    long expected = number + (piece ? delta.codePointCount(0, delta.length()) : 1);
    long given = event.path("sequence_number").asLong(-1);
    if (given != expected) {
      fault(type + " has number " + given + " instead of " + expected);
    }
    number = given;
    if (piece) {
      if (type.equals("response.output_text.delta")) {
        reply.content(delta);
      } else if (type.equals("response.function_call_arguments.delta")) {
        reply.arguments(delta);
      }
      pieces++;
    } else if (type.equals("response.output_item.added")) {
      reply.open(event.path("item"));
    } else if (event.has("response")) {
      id = event.at("/response/id").asText();
      if (number > 1) {
        HeardReply whole = HeardReply.ofOutput(event.at("/response/output"));
        closed(event.path("response"));
        // a cancel may take effect earlier after the job has gone back to a checkpoint
        boolean same = "cancelled".equals(finish) ? whole.isPrefixOf(reply) : whole.matches(reply);
        if (!same) {
          fault(type + " has '" + whole.all() + "', and its pieces '" + reply.all() + "'");
        }
      }
    }
  }

  private void closed(JsonNode response) {
    id = response.path("id").asText();
    finish =
        switch (response.path("status").asText()) {
          case "completed" -> reply.calls().isEmpty() ? "stop" : "tool_calls";
          case "cancelled" -> "cancelled";
          case "incomplete" -> "length";
          default -> null;
        };
  }

  private void fault(String what) {
    if (faults.isEmpty()) {
      faults.add(what);
    }
  }

  /** Called at the end of a stream. */
  void done() {
    if (reply.all().length() < before.length()) {
      fault("'" + reply.all() + "' is all where '" + before + "' had come before");
    }
    ended = true;
  }

  Heard heard() {
    return new Heard(
        turn.key(), session, name, id, reply.text(), reply.calls(), finish, waits, faults);
  }
}
