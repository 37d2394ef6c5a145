package io.radixflow.cli.command.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.cli.Cli;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RenderTemplateTest {
  @TempDir Path directory;

  @Test
  void aTemplateFileRendersRawMessagesWithoutAModel() throws Exception {
    Path template = directory.resolve("t.jinja");
    Files.writeString(
        template,
        "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
            + "{{ strftime_now('%d.%m.%Y') }}{% if tools %}{{ raise_exception('no tools') }}"
            + "{% endif %}{{ 1 // n }}");
    Cli.Result result =
        new Cli()
            .with(
                """
                {"messages":[{"role":"user","content":"é"}],"kwargs":{"n":1},"bos_token":"<s>","date":"2026-11-23"}
                {"messages":[],"tools":[{}],"kwargs":{"n":1}}
                {"messages":[],"kwargs":{"n":0}}
                {"tools":[]}
                {"messages":[{"role":"a","content":"b "},{"role":"c","content":"d"}],"kwargs":{"n":1,"continue_final_message":true}}
                """)
            .run("render", "--template", template.toString());
    assertThat(result.code()).isZero();
    assertThat(result.out().lines())
        .containsExactly(
            "{\"text\":\"<s>user: \\u00E9\\n23.11.20261\"}",
            "{\"error\":\"the model's chat template rejects the conversation: no tools\"}",
            "{\"error\":\"the model's chat template failed: line 2: ZeroDivisionError:"
                + " division by zero\"}",
            "{\"error\":\"messages is missing\"}",
            "{\"text\":\"Nonea: b \\nc: d\"}");
  }
}
