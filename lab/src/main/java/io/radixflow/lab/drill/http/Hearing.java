package io.radixflow.lab.drill.http;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What a client has of a reply so far, over all its connections. It checks that the numbers of a
 * response's events leave out nothing and repeat nothing, and that a chat which is sent again has
 * the same text.
 */
final class Hearing {
  private static final int BUSY = 429;
  private static final int UNAVAILABLE = 503;

  private final HttpTurn turn;
  private final StringBuilder text = new StringBuilder();
  private final List<Long> waits = new ArrayList<>();
  private final List<String> faults = new ArrayList<>();
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

  /** Returns whether the reply is a response whose id is known, so that it can be resumed. */
  boolean resumable() {
    return !turn.chat() && id != null;
  }

  String id() {
    return id;
  }

  /** The number of the last event of a response, or -1. */
  long number() {
    return number;
  }

  int pieces() {
    return pieces;
  }

  /** Takes that the connection broke, or could not be made. */
  void broke() {
    if (!broken) {
      broken = true;
      brokeAt = System.nanoTime();
    }
    if (turn.chat()) {
      before = before.length() > text.length() ? before : text.toString();
      text.setLength(0);
    }
  }

  /** Takes the turn that a response is of; of a stream that is resumed they are null. */
  void begin(String session, String turn) {
    if (session != null) {
      this.session = session;
      this.name = turn;
    }
  }

  /** Takes a response other than 200. */
  void refused(int status, String body) throws IOException {
    if (status == UNAVAILABLE || status == BUSY) {
      throw new IOException("status " + status);
    }
    faults.add("status " + status + ": " + body);
    ended = true;
  }

  /** Takes a reply that came as one. */
  void whole(JsonNode answer) {
    came();
    if (turn.chat()) {
      id = answer.path("id").asText();
      text.append(answer.at("/choices/0/message/content").asText());
      finish = answer.at("/choices/0/finish_reason").asText();
    } else {
      text.append(answer.at("/output/0/content/0/text").asText());
      closed(answer);
    }
    ended = true;
  }

  /** Takes an event of a stream; returns false if it says that the stream broke. */
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
      text.append(choice.at("/delta/content").asText(""));
      if (choice.hasNonNull("finish_reason")) {
        finish = choice.path("finish_reason").asText();
      }
    }
    pieces++;
    int common = Math.min(before.length(), text.length());
    if (!text.substring(0, common).equals(before.substring(0, common))) {
      fault("'" + text + "' came where '" + before + "' had come before");
    }
  }

  private void response(JsonNode event) {
    String type = event.path("type").asText();
    String delta = event.path("delta").asText("");
    boolean piece = type.equals("response.output_text.delta");
    long expected = number + (piece ? delta.codePointCount(0, delta.length()) : 1);
    long given = event.path("sequence_number").asLong(-1);
    if (given != expected) {
      fault(type + " has number " + given + " instead of " + expected);
    }
    number = given;
    if (piece) {
      text.append(delta);
      pieces++;
    } else if (event.has("response")) {
      id = event.at("/response/id").asText();
      if (number > 1) {
        String all = event.at("/response/output/0/content/0/text").asText();
        closed(event.path("response"));
        // a cancel may come sooner when the job has gone back to a checkpoint
        boolean same =
            "cancelled".equals(finish) ? text.indexOf(all) == 0 : all.contentEquals(text);
        if (!same) {
          fault(type + " has '" + all + "', and its pieces '" + text + "'");
        }
      }
    }
  }

  private void closed(JsonNode response) {
    id = response.path("id").asText();
    finish =
        switch (response.path("status").asText()) {
          case "completed" -> "stop";
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

  /** Takes the end of a stream. */
  void done() {
    if (text.length() < before.length()) {
      fault("'" + text + "' is all where '" + before + "' had come before");
    }
    ended = true;
  }

  Heard heard() {
    return new Heard(turn.key(), session, name, id, text.toString(), finish, waits, faults);
  }
}
