package io.radixflow.text.tokenizer;

import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Tuple;

/**
 * Arbitrary texts that try a tokenizer: scripts, spaces, controls, contractions, runs, surrogates.
 * Code points come from blocks that all Unicode versions in use classify alike.
 */
public final class HostileText {

  private static final int[][] BLOCKS = {
    {0, 0x7F},
    {0x80, 0x17F},
    {0x300, 0x36F},
    {0x391, 0x3A1},
    {0x400, 0x4FF},
    {0x5D0, 0x5EA},
    {0x621, 0x66F},
    {0x905, 0x939},
    {0x966, 0x96F},
    {0xE01, 0xE3A},
    {0x1680, 0x1680},
    {0x2000, 0x2064},
    {0x2070, 0x2071},
    {0x2100, 0x218B},
    {0x2460, 0x24FF},
    {0x2700, 0x27BF},
    {0x3000, 0x303F},
    {0x3041, 0x3096},
    {0x4E00, 0x9FA5},
    {0xAC00, 0xD7A3},
    {0xE000, 0xE010},
    {0xFE0F, 0xFE0F},
    {0xFEFF, 0xFEFF},
    {0xFF10, 0xFF19},
    {0xFFFD, 0xFFFD},
    {0x1D400, 0x1D454},
    {0x1D7CE, 0x1D7FF},
    {0x1F300, 0x1F5FF},
    {0x20000, 0x2A6D6},
    {0xE0100, 0xE01EF},
    {0x10FFFD, 0x10FFFF}
  };

  private static final String[] BITS = {
    " ",
    "  ",
    "   ",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    " \n ",
    "'s",
    "'S",
    "'ll",
    "'LL",
    "'Re",
    "'\u017F",
    "don't",
    "I'VE",
    "Hello",
    " world",
    "the ",
    "123",
    "4567",
    " 8",
    "3.14",
    "ß",
    "İ",
    "ſ",
    "日本語",
    "🙂",
    "👨‍👩‍👧",
    "🇫🇷",
    "\u00a0",
    "\u3000",
    "\u0085",
    "\u2028",
    "\u200b",
    "\u001c",
    "\u180e",
    "e\u0301",
    "١٢",
    "Ⅷ",
    "½",
    "²",
    "_",
    "...",
    "!!",
    " !?\n",
    "def f(x):",
    "    ",
    "नमस्ते",
    "ไทย",
    "한국",
    "𝔸𝟘",
    "<|end|>",
    "<|start|>",
    "<think>",
    "<|im_end|>",
    "▁",
    " ▁ ",
    "<0x0A>",
    "\0",
    "\u007f",
    "aaaaaaaa"
  };

  private HostileText() {}

  /** Well-formed texts. */
  public static Arbitrary<String> wellFormed() {
    return pieces().list().ofMaxSize(30).map(list -> String.join("", list));
  }

  /** A well-formed text, for tests that need a model and so are plain tests. */
  public static String random(Random random) {
    StringBuilder text = new StringBuilder();
    for (int left = random.nextInt(30); left > 0; left--) {
      int[] block = BLOCKS[random.nextInt(BLOCKS.length)];
      if (random.nextInt(3) > 0) {
        text.append(BITS[random.nextInt(BITS.length)]);
      } else {
        text.appendCodePoint(block[0] + random.nextInt(block[1] - block[0] + 1));
      }
    }
    return text.toString();
  }

  /** Texts that may hold lone surrogates. */
  public static Arbitrary<String> any() {
    Arbitrary<String> surrogates =
        Arbitraries.chars().range('\uD800', '\uDFFF').map(String::valueOf);
    return Arbitraries.frequencyOf(Tuple.of(9, pieces()), Tuple.of(1, surrogates))
        .list()
        .ofMaxSize(30)
        .map(list -> String.join("", list));
  }

  private static Arbitrary<String> pieces() {
    Arbitrary<String> character =
        Arbitraries.of(BLOCKS)
            .flatMap(block -> Arbitraries.integers().between(block[0], block[1]))
            .map(Character::toString);
    Arbitrary<String> run =
        Arbitraries.integers()
            .between(2, 120)
            .flatMap(
                n ->
                    Arbitraries.of("a", " ", "\n", "!", "7", "\u00e9", "ab").map(s -> s.repeat(n)));
    return Arbitraries.frequencyOf(
        Tuple.of(6, Arbitraries.of(BITS)), Tuple.of(3, character), Tuple.of(1, run));
  }
}
