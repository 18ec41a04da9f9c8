#include <gtest/gtest.h>
#include <rapidcheck.h>
