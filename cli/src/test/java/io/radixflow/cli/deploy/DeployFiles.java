package io.radixflow.cli.deploy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** Reads the files for deployments. */
public final class DeployFiles {

  /** The project's directory. */
  public static final Path ROOT = Path.of("..");

  private DeployFiles() {}

  /** Reads a file with one YAML document, merge keys resolved. */
  public static JsonNode yaml(String file) throws IOException {
    List<JsonNode> documents = documents(file);
    if (documents.size() != 1) {
      throw new IOException(file + " has " + documents.size() + " documents");
    }
    return documents.get(0);
  }

  /** Reads a file with one YAML document or more. */
  public static List<JsonNode> documents(String file) throws IOException {
    ObjectMapper json = new ObjectMapper();
    List<JsonNode> documents = new ArrayList<>();
    for (Object document :
        new Yaml(new SafeConstructor(new LoaderOptions()))
            .loadAll(Files.readString(ROOT.resolve(file)))) {
      documents.add(json.valueToTree(document));
    }
    return documents;
  }

  /** The texts of a list. */
  public static List<String> texts(JsonNode list) {
    return StreamSupport.stream(list.spliterator(), false).map(JsonNode::asText).toList();
  }
}
