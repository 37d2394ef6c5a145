package io.radixflow.gateway.turn;

/**
 * Receives the progress of a request's turns, for its trace. Called like a {@link TurnListener}.
 */
public interface TurnObserver {

  /** An observer that ignores all calls. */
  TurnObserver NONE =
      new TurnObserver() {
        @Override
        public void firstPiece() {}

        @Override
        public void ended(TurnKey turn, TurnEnd end) {}
      };

  /** Called when the first piece of a turn's reply has come. */
  void firstPiece();

  /** Called when a turn has ended, even if it was rejected or failed. */
  void ended(TurnKey turn, TurnEnd end);
}
