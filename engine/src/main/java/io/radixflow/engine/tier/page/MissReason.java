package io.radixflow.engine.tier.page;

/** Why a page that was asked for did not come from a tier. */
public enum MissReason {
  /** The tier does not have the page. */
  ABSENT,
  /** The file that should contain the page is gone. */
  FILE_GONE,
  /** The file ends before the page does. */
  TRUNCATED,
  /** The bytes do not have the checksum that was written with them. */
  CHECKSUM,
  /** The bytes belong to another page. */
  DIGEST,
  /** The page belongs to another namespace. */
  NAMESPACE,
  /** The page was made by another model, or by other arithmetic. */
  EPOCH,
  /** The page is encrypted with an unknown key, or was changed. */
  KEY,
  /** The device failed to read the page. */
  IO,
  /** The page did not arrive in time. */
  TIMEOUT,
  /** The tier has failed before and is not used for a while. */
  UNREACHABLE
}
