package io.radixflow.engine.loop;

import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.draft.DraftPolicy;
import io.radixflow.engine.draft.Drafter;
import io.radixflow.engine.request.Request;
import java.util.Arrays;

/** Makes what guesses the replies of requests, on intake threads. */
final class RequestDrafts {
  private static final int[] NONE = {};

  /** Tokens of a reply for which there is room at first. */
  private static final int REPLY_TOKENS = 256;

  private final DraftPolicy policy;
  private final int vocabSize;
  private final int contextLength;

  RequestDrafts(DraftPolicy policy, int vocabSize, int contextLength) {
    this.policy = policy;
    this.vocabSize = vocabSize;
    this.contextLength = contextLength;
  }

  /** Gives a request whose prompt is made a drafter, if there are drafts and it gets a reply. */
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

  /** Returns the ids of a predicted text; more than the context holds are left out. */
  private int[] predicted(EngineRequest.PredictionSource prediction) {
    int[] ids = prediction == null ? NONE : prediction.ids();
    int count = Math.min(ids.length, contextLength);
    for (int i = 0; i < count; i++) {
      if (ids[i] < 0 || ids[i] >= vocabSize) {
        count = i; // the model cannot say this token, nor the text after it
      }
    }
    return Arrays.copyOf(ids, count);
  }
}
