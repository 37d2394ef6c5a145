package io.radixflow.kernels.text.pretokenizer;

/** Cuts the pieces of one splitter again with another. */
public record PreTokenizerChain(PreTokenizer first, PreTokenizer second) implements PreTokenizer {

  @Override
  public void split(char[] text, int from, int to, Sink sink) {
    first.split(text, from, to, (chars, start, end) -> second.split(chars, start, end, sink));
  }
}
