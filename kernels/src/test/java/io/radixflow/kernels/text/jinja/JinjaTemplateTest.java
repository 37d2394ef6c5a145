package io.radixflow.kernels.text.jinja;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.text.jinja.value.JinjaException;
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
        "2 ** 3 ** 2, -2 ** 2, 2 ** -1, 2 ** 70 # (64, 4, 0.5, 1180591620717411303424)",
        "1e16, 1e15, 1.0, 0.1 + 0.2, 1e-5, 5e-324 # (1e+16, 1000000000000000.0, 1.0,"
            + " 0.30000000000000004, 1e-05, 5e-324)",
        "9223372036854775807 + 1 # 9223372036854775808",
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
        "'%05.1f|%-4s|%x' % (3.14159, 'a', 255) # 003.1|a   |ff",
        "'{0:>5}|{1!r}|{a:,}'.format('x', 'y', a=1234567) # `    x|'y'|1,234,567`",
        "'a b  c'.split(), 'a,b'.rsplit(',', 1), 'abc'.partition('b') # (['a', 'b', 'c'], ['a',"
            + " 'b'], ('a', 'b', 'c'))",
        "'ß'.upper(), 'heLLo wORLD'.title(), 'straße'.casefold() # ('SS', 'Hello World',"
            + " 'strasse')",
        "2.5 | round, 3.14159 | round(2), '3.9' | int, 'z' | int(7), '0x1f' | int(0, 16) # (2.0,"
            + " 3.14, 3, 7, 31)",
        "[3, 1, 2] | sort, ['b', 'A'] | sort | join, [1, 2] | sum # ([1, 2, 3], 'Ab', 3)",
        "{'a': [1.0, none, '<é>']} | tojson # `{\"a\": [1.0, null, \"<é>\"]}`",
        "range(5)[1:3], range(0, 10, 3) | list # (range(1, 3), [0, 3, 6, 9])",
        "s.encode(), s.encode('utf-8').decode('utf-8') == s # `(b'H\\xc3\\xa9\\xf0\\x9f\\x8c\\x8d"
            + " llo', True)`",
        "s.encode('utf8') | length, 'a'.encode() == 'a'.encode(encoding='ascii') # `(11, True)`",
        "s.encode('ascii', 'ignore').decode(), s.encode('latin-1',"
            + " errors='replace').decode('latin-1') # `('H llo', 'Hé? llo')`",
        "'é'.encode().hex(), 'ab'.encode() | list, \"it's\\n"
            + "\".encode() # `('c3a9', [97, 98], b\"it's\\n"
            + "\")`",
        "strftime_now('%d %b %Y %H:%M %-d %j %A %%') # 05 Jan 2026 13:04 5 005 Monday %",
        "undefined_name is defined, none is none, n is odd, s is string # (False, True, True,"
            + " True)",
        "0b101, 0x1F, 1_000, 'a' 'b' # (5, 31, 1000, 'ab')",
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
        "'a' | nofilter # TemplateRuntimeError",
        "list | map('nofilter') | list # TemplateRuntimeError",
        "missing | tojson # TypeError",
        "1 in 2 # TypeError",
        "{} is filter # TypeError",
        "'' * 99999999999999999999 # OverflowError",
        "'x'.index('y') # ValueError",
        "'x'() # TypeError",
        "1 + # TemplateSyntaxError",
        "a b # TemplateSyntaxError",
        "'unclosed # TemplateSyntaxError",
        "(1] # TemplateSyntaxError",
        "'x' * 2000000000 # LimitExceeded",
        "'x' | center(2000000000) # LimitExceeded",
        "2 ** (2 ** 40) # LimitExceeded",
      })
  void errorsAreThoseOfPython(String expression, String kind) {
    assertThatThrownBy(() -> render("\n{{ " + expression + " }}"))
        .isInstanceOf(JinjaException.class)
        .hasMessageStartingWith("line 2: " + kind + ": ");
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
        "{% if false %}{{ 1 | nofilter }}{% endif %}ok # ok",
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
