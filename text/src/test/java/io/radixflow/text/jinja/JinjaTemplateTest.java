package io.radixflow.text.jinja;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.text.jinja.value.JinjaException;
import java.math.BigInteger;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What each expression gives was taken from Jinja2 3.1.6. */
class JinjaTemplateTest {
  private static final LocalDateTime NOW = LocalDateTime.of(2026, 1, 5, 13, 4, 9);

  private static String render(String template) {
    Map<String, Object> variables = new LinkedHashMap<>();
    variables.put("s", "Hé🌍 llo");
    variables.put("n", 7);
    variables.put("big", BigInteger.ONE.shiftLeft(64));
    variables.put("list", Arrays.asList(3, 1.0, "a", null, true));
    variables.put("dict", new LinkedHashMap<>(Map.of("items", "x")));
    return JinjaTemplate.parse(template).render(variables, NOW);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "7 // 2, -7 // 2, 7 % -3, -7 % 3, 7 / 2 # (3, -4, -2, 2, 3.5)",
        "2 ** 3 ** 2, -2 ** 2, 2 ** -1, 2 ** 62, 0 ** 0 # (64, 4, 0.5, 4611686018427387904, 1)",
        "1e16, 1e15, 1.0, 0.1 + 0.2, 1e-5, 5e-324 # (1e+16, 1000000000000000.0, 1.0,"
            + " 0.30000000000000004, 1e-05, 5e-324)",
        "9223372036854775806 + 1, 7.5 // -2, 7.5 % -2 # (9223372036854775807, -4.0, -0.5)",
        "big, big == big, big | tojson, big is number # (18446744073709551616, True,"
            + " '18446744073709551616', True)",
        "1 == 1.0 == true, '1' == 1, [1] == (1,) # (True, False, False)",
        "1 < 2 < 3, 1 < 3 < 2, 'a' < 'b' # (True, False, True)",
        "{1: 'a', true: 'b', 1.0: 'c'} # {1: 'c'}",
        "list # [3, 1.0, 'a', None, True]",
        "s | length, s[2], s[-3:], s[::-1], s[99] # (7, '🌍', 'llo', 'oll 🌍éH', Undefined)",
        "list[1:3], list[::-2], (1, 2, 3)[:-1] # ([1.0, 'a'], [True, 'a', 3], (1, 2))",
        "'ab' * 3, [0] * 2, 'a' ~ 1 ~ none # ('ababab', [0, 0], 'a1None')",
        "'x' in 'axb', 3 in list, 'z' not in dict # (True, True, True)",
        "dict['items'], dict.items() | list # `('x', [('items', 'x')])`",
        "1 and 0 or 'z', not none, 0 or false # ('z', True, False)",
        "'a' if false, 1 if n == 7 else 2 # (Undefined, 1)",
        "\"it's\", 'a\\n', '\"' # `(\"it's\", 'a\\n', '\"')`",
        "'%05.1f|%-4s|%3d|%.1s%%' % (3.14159, 'a', -7.9, 'xy') # 003.1|a   | -7|x%",
        "'<{}|{}|{0}{{{a}}}>'.format('x', none, a=1) # <x|None|x{1}>",
        "'a b  c'.split(), 'a,b'.rsplit(',', 1), 'abcb'.rfind('b') # (['a', 'b', 'c'], ['a', 'b'],"
            + " 3)",
        "'ß'.upper(), 'heLLo wORLD'.title() # ('SS', 'Hello World')",
        "2.5 | round, 3.14159 | round(2), '3.9' | int, 'z' | int(7), '0x1f' | int(0, 16) # (2.0,"
            + " 3.14, 3, 7, 31)",
        "[3, 1, 2] | sort, ['b', 'A'] | sort | join, [1, 2] | sum # ([1, 2, 3], 'Ab', 3)",
        "{'a': [1.0, none, '<é>']} | tojson # `{\"a\": [1.0, null, \"<é>\"]}`",
        "range(5)[1:3], range(0, 10, 3) | list # (range(1, 3), [0, 3, 6, 9])",
        "strftime_now('%d %b %Y %I:%M %p %-d %e %j %A %%') # 05 Jan 2026 01:04 PM 5  5 005 Monday"
            + " %",
        "undefined_name is defined, none is none, n is odd, s is string # (False, True, True,"
            + " True)",
        "007, 1.5e3, 'a' 'b', '\\x41\\u00e9' # (7, 1500.0, 'ab', 'Aé')",
      })
  void expressionsAreThoseOfPython(String expression, String expected) {
    assertThat(render("{{ " + expression + " }}")).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "none + 1 # TypeError",
        "1 < 'a' # TypeError",
        "1 / 0 # ZeroDivisionError",
        "missing.x # UndefinedError",
        "missing() # UndefinedError",
        "missing + 1 # UndefinedError",
        "''.__class__() # SecurityError",
        "list.append(1) # SecurityError",
        "dict.update(a=1) # SecurityError",
        "namespace(_x=1) # SecurityError",
        "range(100001) # OverflowError",
        "{[1]: 2} # TypeError",
        "9223372036854775807 + 1 # OverflowError",
        "9223372036854775808 # OverflowError",
        "-9223372036854775807 - 2 # OverflowError",
        "2 ** 63 # OverflowError",
        "'9223372036854775808' | int # OverflowError",
        "1e19 | int # OverflowError",
        "big + 1 # OverflowError",
        "big < 1.5 # OverflowError",
        "list | map('nofilter') | list # TemplateRuntimeError",
        "missing | tojson # TypeError",
        "1 in 2 # TypeError",
        "'' * 99999999999999999999 # OverflowError",
        "'x'() # TypeError",
        "1 + # TemplateSyntaxError",
        "a b # TemplateSyntaxError",
        "'unclosed # TemplateSyntaxError",
        "(1] # TemplateSyntaxError",
        "'x' * 2000000000 # LimitExceeded",
        "'x' | center(2000000000) # LimitExceeded",
        "2 ** (2 ** 40) # OverflowError",
      })
  void errorsAreThoseOfPython(String expression, String kind) {
    assertThatThrownBy(() -> render("\n{{ " + expression + " }}"))
        .isInstanceOf(JinjaException.class)
        .hasMessageStartingWith("line 2: " + kind + ": ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "{{ s | wordwrap(5) }} # the filter 'wordwrap'",
        "{{ s | xmlattr }} # the filter 'xmlattr'",
        "{{ s | forceescape }} # the filter 'forceescape'",
        "{{ s | filesizeformat }} # the filter 'filesizeformat'",
        "{{ s | pprint }} # the filter 'pprint'",
        "{{ s | attr('x') }} # the filter 'attr'",
        "{{ s | random }} # the filter 'random'",
        "{% filter urlize %}a{% endfilter %} # the filter 'urlize'",
        "{{ s is escaped }} # the test 'escaped'",
        "{{ s is filter }} # the test 'filter'",
        "{{ s.zfill(5) }} # the method 'zfill'",
        "{{ s.encode() }} # the method 'encode'",
        "{{ s.partition('a') }} # the method 'partition'",
        "{% if n %}{% for i in s %}{{ i | pprint }}{% endfor %}{% endif %} # the filter 'pprint'",
        "{% include 'x' %} # the tag 'include'",
        "{% block b %}{% endblock %} # the tag 'block'",
        "{% autoescape false %}{% endautoescape %} # the tag 'autoescape'",
        "{{ '\\N{BULLET}' }} # the escape \\N",
      })
  void namesThatModelsDoNotUseAreRefusedWhenTheTemplateIsParsed(String template, String named) {
    assertThatThrownBy(() -> JinjaTemplate.parse(template))
        .isInstanceOf(JinjaException.class)
        .hasMessageContaining("line 1: TemplateSyntaxError: " + named + " is not supported");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "{% if n %}{{ s | wordwrap }}{% endif %} # the filter 'wordwrap'",
        "{% if s is escaped %}{% endif %} # the test 'escaped'",
        "{{ s | pprint if n }} # the filter 'pprint'",
        "{{ s | map('xmlattr') | list }} # the filter 'xmlattr'",
        "{{ '%x' % 255 }} # the format '%x'",
        "{{ '%(a)s' % dict }} # the format '%('",
        "{{ '%' | format(1) }} # the format '%'",
        "{{ '{0:>5}'.format(1) }} # the format '{0:>5}'",
        "{{ '{a!r}'.format(a=1) }} # the format '{a!r}'",
        "{{ strftime_now('%U') }} # strftime_now: '%U'",
      })
  void namesBelowAConditionAndFormatsAreRefusedWhenTheyAreReached(String template, String named) {
    assertThatThrownBy(() -> render(template))
        .isInstanceOf(JinjaException.class)
        .hasMessageContaining(named + " is not supported");
  }

  @Test
  void theTemplatesOwnErrorKeepsItsMessage() {
    assertThatThrownBy(() -> render("{{ raise_exception('no\nway') }}"))
        .isInstanceOfSatisfying(
            JinjaException.class,
            e -> {
              assertThat(e.isRaised()).isTrue();
              assertThat(e.reason()).isEqualTo("no\nway");
            });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{% for %}",
        "{% if true %}",
        "{% endif %}",
        "{% break %}",
        "{% unknown %}",
        "{# open",
        "{% raw %}",
        "{{ x",
        "{% set true = 1 %}",
        "{% macro m(a=1, b) %}{% endmacro %}",
        "{{ f(a=1, a=2) }}",
        "{% call 1 %}{% endcall %}",
      })
  void templatesThatAreNotValidAreRefused(String template) {
    assertThatThrownBy(() -> JinjaTemplate.parse(template))
        .isInstanceOf(JinjaException.class)
        .hasMessageContaining("TemplateSyntaxError");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }} # 231",
        "{% for i in [] %}a{% else %}b{% endfor %}{% for i in [1] %}{% break %}{% else %}c{% endfor"
            + " %} # bc",
        "{% macro m(a, b=a) %}{{ a }}{{ b }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, 3,"
            + " c=4) }} # 12(3,){'c': 4}",
        "{% macro m() %}[{{ caller('x') }}]{% endmacro %}{% call(y) m() %}{{ y }}!{% endcall %} #"
            + " [x!]",
        "{% for a in [[1, [2]]] recursive %}{{ loop.depth }}{{ loop(a[1:]) if a is iterable }}{%"
            + " endfor %} # 12",
        "{% set ns = namespace(n=0) %}{% for i in range(3) %}{% set ns.n = ns.n + i %}{% endfor"
            + " %}{{ ns.n }} # 3",
        "{% filter upper %}a{% set b %}c{% endset %}{{ b }}{% endfilter %} # AC",
        "{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a is defined }} # 3False",
        "{% generation %}{% set g = 1 %}{{ g }}{% endgeneration %}{{ g is defined }} # 1False",
        "{% for i in 'abc' if i != 'b' %}{{ loop.index }}{{ i }}{{ loop.last }}{% endfor %} #"
            + " 1aFalse2cTrue",
        "{% if false %}{{ 1 | nofilter }}{{ s.zfill(1) }}{% elif n %}ok{% elif n is notest %}{%"
            + " endif %} # ok",
        "{{ 1 | nofilter if false else 'ok' }} # ok",
      })
  void statementsAreThoseOfJinja(String template, String expected) {
    assertThat(render(template)).isEqualTo(expected);
  }

  @Test
  void aFilterBlockMustGiveAText() {
    assertThatThrownBy(() -> render("{% filter length %}abc{% endfilter %}"))
        .isInstanceOf(JinjaException.class)
        .hasMessageContaining("TypeError");
  }

  @Test
  void dataOfAnyDepthIsAnErrorNotAnOverflow() {
    String nested =
        "{% set n = namespace(x=1) %}{% for i in range(99999) %}{% set n.x = [n.x] %}{% endfor %}";
    for (String use : List.of("{{ n.x }}", "{{ n.x | tojson }}")) {
      assertThatThrownBy(() -> render(nested + use)).isInstanceOf(JinjaException.class);
    }
  }
}
