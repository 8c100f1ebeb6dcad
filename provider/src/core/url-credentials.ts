/** `user:password@` and `token@` of URLs, also of URLs inside a longer text such as "vllm @ https://token@host/vllm.whl". */
const USER_INFO = /([a-z][a-z0-9+.-]*:\/\/)([^/\s?#]*)@/gi;

export function holdsCredentials(text: string): boolean {
  return credentialsIn(text).length > 0;
}

/** As written, without the @. */
export function credentialsIn(text: string): readonly string[] {
  return [...text.matchAll(USER_INFO)].map((match) => match[2] ?? "");
}

/** The same place for everybody who may go there. */
export function withoutCredentials(text: string): string {
  return text.replace(USER_INFO, "$1");
}

/** Each secret in it: the password, or the token that stands alone; as written and as the server reads it. */
export function secretsInUrls(text: string): readonly string[] {
  return credentialsIn(text).flatMap((credentials) => {
    const colon = credentials.indexOf(":");
    const secret = colon === -1 ? credentials : credentials.slice(colon + 1);
    return [credentials, secret, decoded(secret)];
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
