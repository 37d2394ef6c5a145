package io.radixflow.lab.bench.pipeline;

/** The places that a turn and its first text pass, in the order of time. */
enum Hop {
  ASKED("the client is asked"),
  SENT("the client sends the event"),
  READ("the job's consumer has read it"),
  SUBMITTED("the operator hands the turn to the engine"),
  SIGNALLED("the engine signals text"),
  DRAINED("the operator reads the text"),
  WRITTEN("the sink writes the delta"),
  FOLLOWED("the client's consumer has read it"),
  HEARD("the client receives the text");

  private final String title;

  Hop(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }
}
