package io.radixflow.grammar.regex;

import io.radixflow.grammar.regex.RegexTree.Kind;
import io.radixflow.text.regex.CodePoints;
import io.radixflow.text.regex.RegexBuilder;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes the tree of an expression. Parts that do not look around become languages of a pool
 * immediately. Because a language is a set of texts, it does not matter how greedy a repetition is.
 */
record TreeBuilder(RegexPool pool) implements RegexBuilder<RegexTree> {
  @Override
  public RegexTree one(CodePoints set) {
    return RegexTree.plain(pool.chars(set), set);
  }

  @Override
  public RegexTree text(String text) {
    return RegexTree.plain(pool.text(text), null);
  }

  @Override
  public RegexTree sequence(List<RegexTree> parts) {
    RegexTree made = null;
    for (int i = parts.size() - 1; i >= 0; i--) {
      RegexTree part = parts.get(i);
      if (made == null) {
        made = part;
      } else if (part.isPlain() && made.isPlain()) {
        made = RegexTree.plain(pool.concat(part.plain(), made.plain()), null);
      } else if (part.isPlain() && made.kind() == Kind.PAIR && made.parts().get(0).isPlain()) {
        RegexTree first =
            RegexTree.plain(pool.concat(part.plain(), made.parts().get(0).plain()), null);
        made = RegexTree.of(Kind.PAIR, List.of(first, made.parts().get(1)), 0, 0);
      } else {
        made = RegexTree.of(Kind.PAIR, List.of(part, made), 0, 0);
      }
    }
    return made == null ? RegexTree.plain(pool.epsilon, null) : made;
  }

  @Override
  public RegexTree either(List<RegexTree> parts) {
    if (parts.size() == 1) {
      return parts.get(0);
    }
    if (!parts.stream().allMatch(RegexTree::isPlain)) {
      return RegexTree.of(Kind.EITHER, parts, 0, 0);
    }
    List<Regex> plain = new ArrayList<>();
    CodePoints set = CodePoints.NONE;
    for (RegexTree part : parts) {
      plain.add(part.plain());
      set = set == null || part.set() == null ? null : set.or(part.set());
    }
    return RegexTree.plain(pool.or(plain), set);
  }

  @Override
  public RegexTree repeat(RegexTree part, int min, int max, Greed greed) {
    if (min == 1 && max == 1) {
      return part;
    }
    return part.isPlain()
        ? RegexTree.plain(pool.repeat(part.plain(), min, max), null)
        : RegexTree.of(Kind.REPEAT, List.of(part), min, max);
  }

  @Override
  public RegexTree atomic(RegexTree part) {
    throw new UnsupportedOperationException("atomic groups");
  }

  @Override
  public RegexTree end() {
    return RegexTree.of(Kind.END, List.of(), 0, 0);
  }

  @Override
  public RegexTree behind(CodePoints set, boolean start) {
    CodePoints known = set.and(CodePoints.SCALARS);
    return new RegexTree(Kind.BEHIND, null, known, false, start, List.of(), 0, 0);
  }

  @Override
  public RegexTree ahead(RegexTree part, boolean negated) {
    return new RegexTree(Kind.AHEAD, null, null, negated, false, List.of(part), 0, 0);
  }

  /** Returns null if the tree does not match exactly one character. */
  @Override
  public RegexTree lookBehind(RegexTree tree, boolean negated) {
    CodePoints set = tree.kind() == Kind.BEHIND || tree.isPlain() ? tree.set() : null;
    boolean start = tree.kind() == Kind.BEHIND && tree.start();
    if (tree.kind() == Kind.EITHER) {
      set = CodePoints.NONE;
      for (RegexTree part : tree.parts()) {
        boolean known = part.kind() == Kind.BEHIND || part.isPlain();
        set = set == null || !known || part.set() == null ? null : set.or(part.set());
        start |= part.kind() == Kind.BEHIND && part.start();
      }
    }
    return set == null ? null : negated ? behind(set.negate(), !start) : behind(set, start);
  }
}
