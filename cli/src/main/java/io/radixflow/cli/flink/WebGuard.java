package io.radixflow.cli.flink;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.flink.shaded.netty4.io.netty.buffer.Unpooled;
import org.apache.flink.shaded.netty4.io.netty.channel.ChannelFutureListener;
import org.apache.flink.shaded.netty4.io.netty.channel.ChannelHandlerContext;
import org.apache.flink.shaded.netty4.io.netty.channel.ChannelInboundHandlerAdapter;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.DefaultFullHttpResponse;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.FullHttpResponse;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpHeaderNames;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpHeaderValues;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpHeaders;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpMethod;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpRequest;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpResponseStatus;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpServerCodec;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.HttpVersion;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.LastHttpContent;
import org.apache.flink.shaded.netty4.io.netty.handler.codec.http.QueryStringDecoder;
import org.apache.flink.shaded.netty4.io.netty.util.ReferenceCountUtil;

/**
 * Refuses requests to Flink's web port that a page of another site makes in a user's browser, and
 * changes that {@link WebAccess} does not allow.
 *
 * <p>Flink's own switches are not enough: with {@code web.submit.enable} off it still accepts a
 * serialized job graph at {@code /jobs}, even from a page of another site, and runs its code. With
 * {@code web.cancel.enable} off it still cancels a job by a GET, which needs no {@code Origin}. The
 * {@code Host} header reveals a request to a name that another site's DNS resolves to loopback.
 *
 * <p>A guard belongs to one connection, and only its event loop uses it.
 */
final class WebGuard extends ChannelInboundHandlerAdapter {

  /** Methods for which Flink reads no files, code or paths from a body; PATCH cancels a job. */
  private static final Set<HttpMethod> WITHOUT_CODE =
      Set.of(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.PATCH);

  private static final String FETCH_SITE = "Sec-Fetch-Site";
  private static final String FETCH_MODE = "Sec-Fetch-Mode";
  private static final String FETCH_DESTINATION = "Sec-Fetch-Dest";

  private static final Pattern LOOPBACK =
      Pattern.compile("(localhost|127(\\.\\d{1,3}){3}|\\[::1])(:\\d{1,5})?");

  private final WebAccess access;
  private boolean refused;

  WebGuard(WebAccess access) {
    this.access = access;
  }

  /**
   * Moves this handler directly after the codec, because Flink adds it after the handlers that
   * collect a request and save its files.
   */
  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    List<String> handlers = context.pipeline().names();
    String codec = context.pipeline().context(HttpServerCodec.class).name();
    if (handlers.indexOf(context.name()) > handlers.indexOf(codec) + 1) {
      context.pipeline().addAfter(codec, null, new WebGuard(access));
      context.pipeline().remove(this);
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof HttpRequest request) {
      String reason = refusal(request);
      refused = reason != null;
      if (refused) {
        context.writeAndFlush(forbidden(reason));
      }
    }
    if (!refused) {
      context.fireChannelRead(message);
      return;
    }
    ReferenceCountUtil.release(message);
    if (message instanceof LastHttpContent) {
      // not earlier, because a client that still sends would lose the answer
      context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
    }
  }

  /** Returns why the request is refused, or null. */
  private String refusal(HttpRequest request) {
    HttpHeaders headers = request.headers();
    String host = headers.get(HttpHeaderNames.HOST, "");
    if (!LOOPBACK.matcher(host).matches() || headers.getAll(HttpHeaderNames.HOST).size() > 1) {
      return "this port answers for names of this machine only";
    }
    if (isOfAnotherSite(headers, host)) {
      return "this port does not answer pages of other sites";
    }
    if (endsJobByGet(request.uri())) {
      return "a job is not ended by a GET";
    }
    if (access == WebAccess.NO_SUBMISSION && !WITHOUT_CODE.contains(request.method())) {
      return "nothing can be submitted here";
    }
    return null;
  }

  /**
   * Returns whether the request comes from a page of another site, or of another port of this
   * machine. A link that a user follows is allowed, because it only shows Flink's page.
   */
  private static boolean isOfAnotherSite(HttpHeaders headers, String host) {
    String origin = headers.get(HttpHeaderNames.ORIGIN);
    if (origin != null && !origin.equals("http://" + host)) {
      return true;
    }
    boolean link =
        headers.contains(FETCH_MODE, "navigate", true)
            && headers.contains(FETCH_DESTINATION, "document", true);
    return headers.getAll(FETCH_SITE).stream()
        .anyMatch(site -> !site.equals("same-origin") && !site.equals("none") && !link);
  }

  /**
   * Returns whether a GET would end a job. {@code /jobs/ID/yarn-cancel} and {@code yarn-stop} exist
   * for YARN's proxy, which has no other method, but an image in a page sends the same request.
   */
  private static boolean endsJobByGet(String uri) {
    return new QueryStringDecoder(uri).path().toLowerCase(Locale.ROOT).contains("/yarn-");
  }

  private static FullHttpResponse forbidden(String reason) {
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.FORBIDDEN,
            Unpooled.copiedBuffer(reason + "\n", StandardCharsets.UTF_8));
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8")
        .set(HttpHeaderNames.CONTENT_LENGTH, response.content().readableBytes())
        .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    return response;
  }
}
