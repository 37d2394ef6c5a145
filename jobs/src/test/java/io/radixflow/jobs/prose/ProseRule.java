package io.radixflow.jobs.prose;

import java.util.regex.Pattern;

/**
 * The rules of the section "Writing" in CONTRIBUTING, as patterns that find the usual breaches. A
 * pattern that finds more good sentences than bad ones does not belong here.
 */
enum ProseRule {
  CLAUSE_AFTER_ITS_NOUN(
      "put the relative clause directly after its noun",
      "\\b(?:is|are|was|were|be) \\w+(?:ed|en|wn|pt) (?:that|which|whose) "
          + "(?:is|are|was|were|has|have|had|can|cannot|may|do|does|did)\\b"),
  NOUN_NOT_PRONOUN(
      "repeat the noun",
      "\\bthose (?:that|of|which|who)\\b",
      "\\bwhat (?:is|are|was|were|there|has|had|comes|lies|stays|follows|remains)\\b",
      "\\ball of (?:it|them) (?:that|which)\\b",
      "(?-i:\\bOf (?:each|every|those|them)\\b)"),
  NOT_A(
      "write \"is not a\" or \"there is no\"",
      "\\b(?<!there\\s{1,12})(?:is|are|was|were|be) no"
          + " (?!longer|more|other|less|different|such|use)\\w+"),
  PER(
      "write \"per\"",
      "\\b(?:tokens|rows|bytes|steps|pages|turns|samples|columns|launches|microseconds|blocks"
          + "|threads|weights|lines|bits|requests|seconds|milliseconds|events|records) an? "
          + "(?:page|step|row|token|turn|block|warp|thread|layer|model|session|task|file|weight"
          + "|case|machine|batch|TaskManager|subtask|partition)\\b"),
  PLAIN_VERB(
      "write \"is stored\", \"is\", \"continues\", \"contains\"",
      "\\b(?:lies|lie|lay|stands|stand|stood) (?:in|at|on|behind|beside|one|there|here|where"
          + "|before|after|under|below|above|apart|together)\\b",
      "\\b(?:goes|go|went|going) on(?= with| from| where| as| to |[,.;:])"),
  PLAIN_PREPOSITION(
      "write \"after\", \"next to\", \"besides\", \"only\", \"supported\", \"constrained by\"",
      "\\bbehind (?:it|them|that|this|one|each|the)\\b",
      "\\bbeside\\b",
      "\\b(?:is|are) served\\b",
      "\\bheld to\\b",
      "\\bnothing but\\b"),
  SUBJECT_AND_OBJECT(
      "say who does something, and to what",
      "(?:^|(?<=[.\\x00*]\\s{1,8}))(?-i:Takes|Asks|Hears|Holds|Gives|Keeps|Lets|Tells|Says|Makes)"
          + "(?: nothing| all| it| that)?\\."),
  ONE_FACT_PER_SENTENCE(
      "make two or more sentences, the cause first", "(?:[^\\s\\x00]*[^\\s\\x00.?!:] ){46}"),
  NAMED_AMOUNT(
      "name the parameter",
      "\\bso (?:many|much|few|long) (?:tokens|rows|bytes|pages|steps|turns|of)\\b"),
  USUAL_WORD(
      "write \"even if\", \"also\", \"is available\", \"no one\", \"again\", \"of it\"",
      "\\balso (?:if|where|when|while)\\b",
      "\\b(?:to|can|could|cannot) (?:not )?be had\\b",
      ", too[,.;]",
      "\\b(?:is|are|was) told\\b",
      "\\b(?:nobody|whoever|anew|as it were|therein|thereof|whereof|thereby|hitherto)\\b");

  final String plain;
  final Pattern pattern;

  ProseRule(String plain, String... patterns) {
    this.plain = plain;
    this.pattern =
        Pattern.compile(String.join("|", patterns).replace(" ", "\\s+"), Pattern.CASE_INSENSITIVE);
  }
}
