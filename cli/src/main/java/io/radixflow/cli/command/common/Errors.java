package io.radixflow.cli.command.common;

import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.FileNotFoundException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Formats errors as one line. */
public final class Errors {
  private Errors() {}

  /** Describes an error in one line; names its class only if the message is not enough. */
  public static String line(Throwable error) {
    return oneLine(describe(error));
  }

  private static String describe(Throwable error) {
    if (error instanceof ExecutionException || error instanceof CompletionException) {
      return describe(error.getCause());
    }
    if (error instanceof NoSuchFileException missing) {
      return missing.getFile() + ": no such file";
    }
    if (error instanceof AccessDeniedException denied) {
      return denied.getFile() + ": permission denied";
    }
    if (error instanceof FileSystemException file && file.getReason() != null) {
      return file.getFile() + ": " + file.getReason();
    }
    if (error instanceof FileNotFoundException) {
      return error.getMessage();
    }
    if (error instanceof JsonProcessingException json) {
      return "not valid JSON: " + json.getOriginalMessage();
    }
    if (error instanceof InterruptedException) {
      return "interrupted";
    }
    if (error instanceof OutOfMemoryError) {
      return "out of memory ("
          + error.getMessage()
          + "); give the JVM more with RADIXFLOW_JAVA_OPTS=-Xmx…";
    }
    String message = error.getMessage();
    return message == null || message.isBlank() ? error.getClass().getSimpleName() : message;
  }

  private static String oneLine(String text) {
    return text.strip().replaceAll("\\s*[\\r\\n]+\\s*", "; ");
  }
}
