package io.radixflow.engine.tier.page;

/** Why a page that was asked for did not come from a tier. */
public enum MissReason {
  /** It is not there. */
  ABSENT,
  /** The file that should hold it is gone. */
  FILE_GONE,
  /** The file ends before the page does. */
  TRUNCATED,
  /** The bytes do not have the checksum that was written with them. */
  CHECKSUM,
  /** The bytes are another page's. */
  DIGEST,
  /** The page belongs to another namespace. */
  NAMESPACE,
  /** The page was made by another model, or by other arithmetic. */
  EPOCH,
  /** The page is encrypted with a key that is not configured, or was changed. */
  KEY,
  /** The device did not read it. */
  IO,
  /** It did not come in time. */
  TIMEOUT,
  /** The tier has failed before and is not asked for a while. */
  UNREACHABLE
}
