#include "replay/tls.h"

#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>

/* One record a write: what OpenSSL has to remember of an unfinished one stays small. */
enum { WRITE_MAX = 16 * 1024 };

void rh_tls_init(struct rh_tls *tls, struct ssl_st *ssl)
{
    *tls = (struct rh_tls){.ssl = ssl};
    /* The bytes of an unfinished write move when the output buffer grows. */
    SSL_set_mode(ssl, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

static int tls_error(int kind, struct rh_error *err)
{
    unsigned long code = ERR_peek_last_error();
    bool cut = false;
#ifdef SSL_R_UNEXPECTED_EOF_WHILE_READING
    cut = kind == SSL_ERROR_SSL && ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
#endif
    if (kind == SSL_ERROR_ZERO_RETURN || cut || (kind == SSL_ERROR_SYSCALL && errno == 0)) {
        return rh_error_set(err, RH_ERR_NET, "the server closed it");
    }
    if (kind == SSL_ERROR_SYSCALL) {
        return rh_error_set(err, RH_ERR_NET, "%s", strerror(errno));
    }
    char text[200];
    ERR_error_string_n(code, text, sizeof text);
    return rh_error_set(err, RH_ERR_NET, "TLS: %s", text);
}

ssize_t rh_tls_read(struct rh_tls *tls, char *data, size_t n, struct rh_error *err)
{
    tls->read_wants_write = false;
    ERR_clear_error();
    errno = 0;
    size_t got;
    int ok = SSL_read_ex(tls->ssl, data, n, &got);
    if (ok) {
        return (ssize_t) got;
    }
    int kind = SSL_get_error(tls->ssl, ok);
    if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) {
        tls->read_wants_write = kind == SSL_ERROR_WANT_WRITE;
        return 0;
    }
    return tls_error(kind, err);
}

bool rh_tls_has_more(const struct rh_tls *tls)
{
    return SSL_has_pending(tls->ssl);
}

ssize_t rh_tls_write(struct rh_tls *tls, const char *data, size_t n, struct rh_error *err)
{
    assert(n >= tls->retry_len);
    size_t offer = tls->retry_len ? tls->retry_len : n < WRITE_MAX ? n : WRITE_MAX;
    tls->write_wants_read = false;
    ERR_clear_error();
    errno = 0;
    size_t taken;
    int ok = SSL_write_ex(tls->ssl, data, offer, &taken);
    if (ok) {
        tls->retry_len = 0;
        return (ssize_t) taken;
    }
    int kind = SSL_get_error(tls->ssl, ok);
    if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) {
        tls->retry_len = offer;
        tls->write_wants_read = kind == SSL_ERROR_WANT_READ;
        return 0;
    }
    return tls_error(kind, err);
}
