package io.radixflow.kernels.text.template;

import com.hubspot.jinjava.Jinjava;
import com.hubspot.jinjava.JinjavaConfig;
import com.hubspot.jinjava.LegacyOverrides;
import com.hubspot.jinjava.el.JinjavaInterpreterResolver;
import com.hubspot.jinjava.interpret.Context;
import com.hubspot.jinjava.interpret.Context.Library;
import com.hubspot.jinjava.interpret.RenderResult;
import com.hubspot.jinjava.interpret.TemplateError;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import jinjava.javax.el.CompositeELResolver;
import jinjava.javax.el.ELResolver;

/**
 * Renders a model's Jinja chat template as Jinja2 does with {@code trim_blocks} and {@code
 * lstrip_blocks}. Safe for many threads.
 *
 * <p>Templates come with model files and are not trusted: they cannot load other templates, message
 * contents are never interpreted as templates, and output, strings, lists, recursion and the number
 * of nodes visited are bounded.
 */
public final class JinjaRenderer {

  private static final int MOST_NODES = 500_000;
  private static final int MOST_CHARS = 32 << 20;
  private static final int MOST_ELEMENTS = 100_000;
  private static final int DEEPEST = 64;

  /** Thrown through the interpreter, which collects exceptions, but not errors. */
  private static final class BudgetSpent extends Error {
    private static final long serialVersionUID = 1L;

    BudgetSpent() {
      super("template visits too many nodes", null, false, false);
    }
  }

  private static final ELResolver RESOLVER = resolver();

  private final Jinjava jinjava;
  private final String template;
  private final Map<String, Object> constants;
  private final String source;
  private final boolean knowsDeveloper;

  /**
   * @param template the Jinja source
   * @param constants variables that are the same for all conversations ({@code bos_token} …)
   */
  public JinjaRenderer(String template, Map<String, Object> constants) {
    this.template = JinjaDialect.toJinjava(template);
    this.constants = Map.copyOf(constants);
    this.source = template;
    this.knowsDeveloper = template.contains("developer");
    jinjava = new Jinjava(config(new int[1]));
    Context global = jinjava.getGlobalContext();
    global.registerFunction(TemplateFunctions.definition("raise_exception", "raiseException"));
    global.registerFunction(TemplateFunctions.definition("strftime_now", "strftimeNow"));
    global.registerFilter(new TrimFilter());
    global.registerExpTest(new JinjaIterable());
  }

  /** The template's text as the model has it. */
  String source() {
    return source;
  }

  /**
   * @throws ChatTemplateException if the template refuses the messages, fails, or exceeds a bound
   */
  String render(List<ChatMessage> messages, boolean addGenerationPrompt, TemplateOptions options) {
    Map<String, Object> variables = new HashMap<>(options.variables());
    variables.putAll(constants);
    List<Map<String, Object>> list = new ArrayList<>(messages.size());
    for (ChatMessage message : messages) {
      list.add(TemplateMessages.fields(message, knowsDeveloper));
    }
    variables.put("messages", list);
    variables.put("tools", options.tools());
    variables.put("add_generation_prompt", addGenerationPrompt);
    RenderResult result;
    try {
      result = jinjava.renderForResult(template, variables, config(new int[] {MOST_NODES}));
    } catch (BudgetSpent | StackOverflowError e) {
      throw new ChatTemplateException(
          "the model's chat template runs too long or too deep; it may be hostile");
    } catch (RuntimeException e) {
      throw new ChatTemplateException("the model's chat template failed: " + e.getMessage());
    }
    if (!result.getErrors().isEmpty()) {
      throw failure(result.getErrors().get(0));
    }
    return result.getOutput();
  }

  private static ELResolver resolver() {
    CompositeELResolver resolver = new CompositeELResolver();
    resolver.add(new PythonStrings());
    resolver.add(JinjavaInterpreterResolver.DEFAULT_RESOLVER_READ_ONLY);
    return resolver;
  }

  private static ChatTemplateException failure(TemplateError error) {
    for (Throwable cause = error.getException(); cause != null; cause = cause.getCause()) {
      if (cause instanceof TemplateFunctions.Raised) {
        return new ChatTemplateException(
            "the model's chat template refuses the conversation: " + cause.getMessage());
      }
    }
    return new ChatTemplateException(
        String.format(
            "the model's chat template failed at line %s: %s",
            error.getLineno(), error.getMessage()));
  }

  private static JinjavaConfig config(int[] nodesLeft) {
    return JinjavaConfig.newBuilder()
        .withTrimBlocks(true)
        .withLstripBlocks(true)
        .withNestedInterpretationEnabled(false)
        .withElResolver(RESOLVER)
        .withMaxOutputSize(MOST_CHARS)
        .withMaxStringLength(MOST_CHARS)
        .withMaxListSize(MOST_ELEMENTS)
        .withMaxMapSize(MOST_ELEMENTS)
        .withMaxRenderDepth(DEEPEST)
        .withMaxMacroRecursionDepth(DEEPEST)
        .withEnableRecursiveMacroCalls(true)
        .withDisabled(
            Map.of(
                Library.TAG, Set.of("include", "import", "from", "extends"),
                Library.FILTER, Set.of("random", "shuffle", "fromyaml", "toyaml"),
                Library.FUNCTION, Set.of("today", "unixtimestamp", "fileDate")))
        .withNodePreProcessor(
            (node, interpreter) -> {
              if (nodesLeft[0]-- == 0) {
                throw new BudgetSpent();
              }
            })
        .withLegacyOverrides(
            LegacyOverrides.newBuilder()
                .withParseWhitespaceControlStrictly(true)
                .withUseTrimmingForNotesAndExpressions(true)
                .withUseSnakeCasePropertyNaming(true)
                .withKeepNullableLoopValues(true)
                .withUseNaturalOperatorPrecedence(true)
                .build())
        .build();
  }
}
