/* SPDX-License-Identifier: MIT */
/* The version, and names of statuses and fields. */
#include "attend/attend.h"
#include "base/error.h"

#define STRING(x) #x
#define VERSION(a, b, c) STRING(a) "." STRING(b) "." STRING(c)

const char *attend_version(void)
{
    return VERSION(ATTEND_VERSION_MAJOR, ATTEND_VERSION_MINOR, ATTEND_VERSION_PATCH);
}

const char *attend_status_name(attend_status status)
{
    switch (status) {
    case ATTEND_OK:
        return "ATTEND_OK";
    case ATTEND_EINVAL:
        return "ATTEND_EINVAL";
    case ATTEND_ENOMEM:
        return "ATTEND_ENOMEM";
    case ATTEND_EUNSUPPORTED:
        return "ATTEND_EUNSUPPORTED";
    case ATTEND_ETOOBIG:
        return "ATTEND_ETOOBIG";
    case ATTEND_ECOMM:
        return "ATTEND_ECOMM";
    case ATTEND_ECANCELLED:
        return "ATTEND_ECANCELLED";
    case ATTEND_EBUSY:
        return "ATTEND_EBUSY";
    }
    return "unknown status";
}

const char *attend_field_name(attend_field field) { return attendi_field_name(field); }
