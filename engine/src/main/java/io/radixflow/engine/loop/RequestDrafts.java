package io.radixflow.engine.loop;

import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.draft.DraftPolicy;
import io.radixflow.engine.draft.Drafter;
import io.radixflow.engine.request.Request;
import java.util.Arrays;

/** Makes the drafters of requests, on intake threads. */
record RequestDrafts(DraftPolicy policy, int vocabSize, int contextLength) {
  private static final int[] NONE = {};

  /** Initial room for tokens of a reply. */
  private static final int REPLY_TOKENS = 256;

  /**
   * Gives a drafter to a request with a prompt, if drafts are enabled and the request gets a reply.
   */
  void open(Request request) {
    if (!policy.isOn() || request.isExpected() || request.reply.resumedEnd() != null) {
      return;
    }
    int[] predicted = predicted(request.spec.prediction());
    Drafter drafter =
        policy.open(
            request.tokens.length() + predicted.length + REPLY_TOKENS, request.spec.namespace());
    drafter.predict(predicted);
    drafter.begin(request.tokens.ids(), request.tokens.length(), request.tokens.promptLength());
    request.reply.draft(drafter);
  }

  /** Returns the ids of a predicted text, at most as many as the context has. */
  private int[] predicted(EngineRequest.PredictionSource prediction) {
    int[] ids = prediction == null ? NONE : prediction.ids();
    int count = Math.min(ids.length, contextLength);
    for (int i = 0; i < count; i++) {
      if (ids[i] < 0 || ids[i] >= vocabSize) {
        count = i; // the model cannot generate this token, nor the text after it
      }
    }
    return Arrays.copyOf(ids, count);
  }
}
