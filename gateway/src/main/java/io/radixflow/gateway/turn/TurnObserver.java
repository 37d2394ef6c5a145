package io.radixflow.gateway.turn;

/** Hears how the turns of a request go, for its trace; called like a {@link TurnListener}. */
public interface TurnObserver {

  /** Hears nothing. */
  TurnObserver NONE =
      new TurnObserver() {
        @Override
        public void firstPiece() {}

        @Override
        public void ended(TurnKey turn, TurnEnd end) {}
      };

  /** The first piece of a turn's reply came. */
  void firstPiece();

  /** A turn ended, also if it was rejected or failed. */
  void ended(TurnKey turn, TurnEnd end);
}
